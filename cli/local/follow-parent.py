"""Runs MiniStack for as long as its parent lives.

Standard input is a pipe that the parent holds and never writes to. However the parent ends, the pipe ends with it, and
then so does this process group: MiniStack and the functions that it runs as child processes, the stopped ones too.
What they wrote goes as well: LEASEHOLD_LOCAL_AWS names the folder that was made for it.
"""
import os
import shutil
import signal
import threading


def follow():
    while os.read(0, 1):
        pass
    shutil.rmtree(os.environ["LEASEHOLD_LOCAL_AWS"], ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


threading.Thread(target=follow, daemon=True).start()

from ministack.app import main  # noqa: E402  (the pipe is watched before the slow import begins)

main()
