// Runs scripts and calls their functions. Each line of the input is a request in JSON, and each line
// of the output is the answer to one.

const encoder = new TextEncoder();

function answer({ script, function: name, arguments: values }) {
  try {
    if (script !== undefined) {
      (0, eval)(script); // at the top level, so that its functions are global
      return {};
    }
    return { result: globalThis[name](...values) };
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
}

function write(text) {
  let bytes = encoder.encode(text);
  while (bytes.length) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}

let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}
