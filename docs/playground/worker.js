// relbase in the browser: CPython as WebAssembly, the pure wheel unpacked into it.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const say = (kind, text) => postMessage({ kind, text });

// What is pasted is text: it goes as UTF-8, whatever it says of the file that it was. The whole is
// one call, so that a document is nothing but its argument.
const program = `
import relbase

def explained(data, name, url, kind, profile):
    charset = None if name else "utf-8"
    try:
        page = relbase.explain(
            data.to_bytes(),
            url=url or None,
            kind=kind or None,
            profile=profile,
            name=name or None,
            charset=charset,
        )
    except ValueError as error:
        return "error", str(error)
    return "page", page.encode("utf-8", "backslashreplace").decode()

explained
`;

async function load() {
  say("state", "Loading Python: the first time this takes a while...");
  const here = new URL(".", import.meta.url).href;
  const [python, ...packed] = await Promise.all([
    loadPyodide({ indexURL: `${here}pyodide/`, packageBaseUrl: `${here}pyodide/` }),
    ...["webencodings.zip", "relbase.whl"].map(name => bytes(`${here}python/${name}`)),
  ]);
  for (const one of packed) python.unpackArchive(one, "wheel");
  return python.runPython(program);
}

async function bytes(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.arrayBuffer();
}

const ready = load();
ready.then(() => say("state", ""), () => {});

onmessage = async ({ data: asked }) => {
  try {
    const explained = await ready;
    say("state", "Explaining...");
    const found = explained(asked.data, asked.name, asked.url, asked.kind, asked.profile);
    const [kind, text] = found.toJs();
    found.destroy();
    say(kind, text);
  } catch (error) {
    say("error", `It did not work: ${error.message}`);
  }
};
