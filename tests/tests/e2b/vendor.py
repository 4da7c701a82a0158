# What Belljar's shim needs of a server, done with the vendor's own client.

import e2b
from e2b import Sandbox


def fails(kind, work):
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


sandbox = Sandbox.create(timeout=60, metadata={"who": "tests"}, envs={"OWN": "a b"})
run, files = sandbox.commands.run, sandbox.files

told = run("echo out; echo err >&2; echo $OWN")
assert (told.stdout, told.stderr, told.exit_code) == ("out\na b\n", "err\n", 0)
assert fails(e2b.CommandExitException, lambda: run("exit 7")).exit_code == 7
assert len(run("head -c 3000000 /dev/zero | tr '\\0' a").stdout) == 3000000

# By a form, and as bytes.
files.write("a/b.txt", "h\u00e9llo\n")
assert files.read("a/b.txt") == "h\u00e9llo\n"
every = bytes(range(256)) * 4096
files.write("every", every, use_octet_stream=True)
assert bytes(files.read("every", format="bytes")) == every
files.write_files([{"path": "x", "data": "1"}, {"path": "y", "data": b"2"}])
assert run("cat x y").stdout == "12"
fails(e2b.NotFoundException, lambda: files.read("none"))

reads = run("cat; echo done", background=True, stdin=True)
sandbox.commands.send_stdin(reads.pid, "in\n")
assert reads.pid in [program.pid for program in sandbox.commands.list()]
sandbox.commands.close_stdin(reads.pid)
assert reads.wait().stdout == "in\ndone\n"

sleeps = run("sleep 100", background=True)
assert sleeps.kill()
assert fails(e2b.CommandExitException, sleeps.wait).exit_code == -1
fails(e2b.TimeoutException, lambda: run("sleep 5", timeout=1))
fails(e2b.AuthenticationException, lambda: run("true", user="nobody-here"))
run("true", user="root")

sandbox.set_timeout(120)
assert sandbox.is_running()
sleeps = run("sleep 100", background=True)
assert sandbox.kill()
fails(e2b.TimeoutException, sleeps.wait)
fails(e2b.TimeoutException, lambda: run("true"))
assert not sandbox.is_running()
assert not sandbox.kill()
fails(e2b.AuthenticationException, lambda: Sandbox.create(api_key="e2b_" + "0" * 40))
