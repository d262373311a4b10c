"""A notification server on the session's bus, as far as tests need one: org.freedesktop.Notifications.

It prints what happens, a line of JSON each, and does what lines on its stdin say: `press ID ACTION`, `close ID`.
"""
import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


def say(**what):
    print(json.dumps(what), flush=True)


class Server(dbus.service.Object):
    last = 0
    shown = set()

    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, app, replaces, _icon, title, body, actions, hints, expires):
        if replaces in self.shown:
            number = int(replaces)
        else:
            self.last += 1
            number = self.last
        self.shown.add(number)
        say(notify=number, replaces=int(replaces), app=app, title=title, body=body, expires=int(expires),
            actions=[str(a) for a in actions], urgency=int(hints.get("urgency", 1)))
        return dbus.UInt32(number)

    @dbus.service.method(NAME, in_signature="u", out_signature="")
    def CloseNotification(self, number):
        self.close(int(number), 3)

    def close(self, number, why):
        self.shown.discard(number)
        say(closed=number)
        self.NotificationClosed(dbus.UInt32(number), dbus.UInt32(why))

    @dbus.service.method(NAME, out_signature="as")
    def GetCapabilities(self):
        return ["actions", "body", "body-markup", "persistence"]

    @dbus.service.method(NAME, out_signature="ssss")
    def GetServerInformation(self):
        return ("test", "hookd", "1", "1.2")

    @dbus.service.signal(NAME, signature="us")
    def ActionInvoked(self, number, action):
        pass

    @dbus.service.signal(NAME, signature="uu")
    def NotificationClosed(self, number, why):
        pass


def do(server, text):
    words = text.split()
    number = int(words[1])
    if words[0] == "press":
        server.ActionInvoked(dbus.UInt32(number), words[2])
    server.close(number, 2)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    name = dbus.service.BusName(NAME, bus, do_not_queue=True)
    server = Server(bus, "/org/freedesktop/Notifications")
    loop = GLib.MainLoop()

    def read(channel, _condition):
        text = channel.readline()
        if not text:
            loop.quit()
            return False
        do(server, text)
        return True

    GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, read)
    say(ready=str(name.get_name()))
    loop.run()


main()
