/** Reads the samples of one metric from Prometheus' text format. Pure. */
export interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** Bounded: a metrics page may have a hundred thousand lines, of which few are relevant. */
const MAX_SAMPLES = 10_000;

export function samplesOf(text: string, name: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of linesOf(text)) {
    if (!line.startsWith(name) || (line[name.length] !== "{" && line[name.length] !== " ")) continue;
    const close = line.lastIndexOf("}");
    const labels = Object.fromEntries(
      Array.from(
        line.slice(name.length, close + 1).matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g),
        ([, key = "", value = ""]) => [
          key,
          value.replaceAll(/\\(.)/g, (_found, letter: string) => (letter === "n" ? "\n" : letter)),
        ],
      ),
    );
    const value = Number(
      line
        .slice(close < 0 ? name.length : close + 1)
        .trim()
        .split(" ")[0],
    );
    if (Number.isFinite(value)) samples.push({ labels, value });
    if (samples.length >= MAX_SAMPLES) break;
  }
  return samples;
}

function* linesOf(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}
