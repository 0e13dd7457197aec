// Python for WebAssembly in Node, with the files of this machine: node pyodide.mjs CORE ARGUMENT...
// CORE is the folder of Pyodide; the arguments are those of Python: -m MODULE or SCRIPT, and theirs.
const [core, ...given] = process.argv.slice(2);
const { loadPyodide } = await import(`${core}/pyodide.mjs`);
const { PYTHONPATH = "", ...env } = process.env; // what is not there as it starts, it never finds
const python = await loadPyodide({ indexURL: core, env });

// Each folder at the top of the disk that something names.
const path = PYTHONPATH.split(":");
const named = [process.cwd(), ...given, ...path, "/tmp"];
for (const top of new Set(named.map((path) => /^\/[^/]+/.exec(path)?.[0]).filter(Boolean))) {
  python.FS.mkdirTree(top);
  python.mountNodeFS(top, top);
}
python.FS.chdir(process.cwd());
python.globals.set("path", python.toPy(path));
python.globals.set("given", python.toPy(given.filter((word) => !["-P", "-s"].includes(word))));
process.exitCode = python.runPython(`
import runpy, sys
sys.path += path
sys.dont_write_bytecode = True
is_module = given[0] == "-m"
sys.argv = given[is_module:]
try:
    if is_module:
        runpy.run_module(given[1], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(given[0], run_name="__main__")
    status = 0
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else 1 if end.code else 0
sys.stdout.flush()
status
`);
