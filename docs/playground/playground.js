// The page of the playground. What is typed goes to a worker of this page, and its answer, a page
// of HTML, into a frame without scripts: see worker.js.
import { examples } from "./examples.js";

const at = id => document.getElementById(id);
const form = at("playground"), button = form.querySelector("[type=submit]");
let worker;

// A worker that a blob starts has the policy of this page: it reaches this site and nothing else.
function start() {
  if (worker) return;
  const module = new URL("worker.js", import.meta.url).href;
  const blob = new Blob([`import ${JSON.stringify(module)}`], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(blob), { type: "module" });
  worker.onmessage = ({ data }) => said[data.kind](data.text);
  worker.onerror = () => fail("Python cannot be started: this needs a browser with WebAssembly");
}

const said = {
  state(text) { at("state").textContent = text },
  page(text) { done(); show(text) },
  error(text) { done(); trouble(text) },
};

// Nothing can run in the frame: it is sandboxed, and its page forbids itself all but its own style.
// Not srcdoc: there "#r1" leads to this page, for it takes its base from here. A blob of another
// origin than its own document's may not lead to its own fragments: hence allow-same-origin.
let shown = "";
function show(text) {
  URL.revokeObjectURL(shown);
  shown = URL.createObjectURL(new Blob([text], { type: "text/html;charset=utf-8" }));
  at("result").src = shown;
  at("result").hidden = false;
}

function done() {
  button.disabled = false;
  at("state").textContent = "";
}

function trouble(text) {
  at("trouble").textContent = text;
  at("trouble").hidden = !text;
  if (text) at("result").hidden = true;
}

function fail(text) {
  worker = undefined;
  done();
  trouble(text);
}

async function ask() {
  const file = at("file").files[0];
  const data = new Uint8Array(file ? await file.arrayBuffer()
    : new TextEncoder().encode(at("document").value));
  worker.postMessage({
    data, name: file ? file.name : "", url: at("url").value.trim(),
    kind: at("kind").value, profile: at("profile").value,
  });
}

// Python starts while the visitor reads: it is there when the button is pressed.
start();
form.addEventListener("submit", event => {
  event.preventDefault();
  start();
  trouble("");
  button.disabled = true;
  at("state").textContent = "Starting...";
  ask().catch(error => fail(String(error)));
});
function paste(example) {
  at("file").value = "";
  at("kind").value = "";
  at("document").value = example.document;
  at("url").value = example.url;
}

form.addEventListener("click", event => {
  const example = examples[event.target.dataset.example];
  if (example) paste(example);
});
// There is something to press the button for at once.
if (!at("document").value) paste(examples.page);
at("document").addEventListener("input", () => { at("file").value = "" });
