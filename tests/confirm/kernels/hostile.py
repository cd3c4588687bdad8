"""User code that harms the process that it runs in."""

import os
import sys
import time

import jax

print("an import that prints")
os.write(1, b"and writes to the file descriptor\n")
sys.stdout.write("without an end of line")


def prints(x):
    print("while tracing")
    os.system("echo from a subprocess")
    return x + 1


def aborts():
    os.abort()


def leaves():
    os._exit(3)


def hangs():
    while True:
        time.sleep(0.01)


def raises_no_exception():
    raise KeyboardInterrupt("not an Exception")


def floods():
    for _ in range(2_000):
        os.write(1, b"x" * 10_000)
        os.write(2, b"y" * 10_000)
    return jax.numpy.zeros(3)
