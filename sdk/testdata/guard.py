import hookd


def handle(event):
    print("seen", event.name)  # goes to stderr
    for command in event.commands:
        if command.program == "sudo":
            return hookd.deny("no sudo")


hookd.run(handle)
