import hookd


def handle(event):
    print("seen", event.name)  # goes to stderr
    for words in event.command:
        if words.program == "sudo":
            return hookd.deny("no sudo")


hookd.run(handle)
