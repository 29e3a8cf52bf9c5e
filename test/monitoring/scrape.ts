/** Parses pages in Prometheus' text format, strictly: input that Prometheus would reject is an error here. */
interface ScrapedFamily {
  name: string;
  type: string;
  help: string;
}

export interface ScrapedSample {
  name: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

export interface Scrape {
  families: ReadonlyMap<string, ScrapedFamily>;
  samples: readonly ScrapedSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|\})/;

export function parseMetrics(text: string): Scrape {
  const families = new Map<string, ScrapedFamily>();
  const samples: ScrapedSample[] = [];
  const seen = new Set<string>();
  let current: ScrapedFamily | undefined;
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  for (const line of text.slice(0, -1).split("\n")) {
    const header = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (header) {
      const [, what, name = "", rest = ""] = header;
      if (what === "HELP") {
        if (families.has(name)) throw new Error(`${name} is there twice`);
        families.set(name, (current = { name, type: "", help: rest }));
      } else {
        if (current?.name !== name) throw new Error(`the type of ${name} is not behind its help`);
        current.type = rest;
      }
      continue;
    }
    const sample = parseSample(line);
    const family = sample.name.replace(current?.type === "histogram" ? /_(bucket|sum|count)$/ : /$^/, "");
    if (!current || family !== current.name) throw new Error(`not in its family: ${line}`);
    const id = line.slice(0, line.lastIndexOf(" "));
    if (seen.has(id)) throw new Error(`twice: ${id}`);
    seen.add(id);
    samples.push(sample);
  }
  return { families, samples };
}

function parseSample(line: string): ScrapedSample {
  const name = NAME.exec(line)?.[0] ?? "";
  if (name === "") throw new Error(`no name: ${line}`);
  const labels: Record<string, string> = {};
  let rest = line.slice(name.length);
  if (rest.startsWith("{")) {
    for (rest = rest.slice(1), rest = rest.startsWith("}") ? rest.slice(1) : rest; !rest.startsWith(" ");) {
      const match = LABEL.exec(rest);
      if (!match) throw new Error(`labels that cannot be read: ${line}`);
      const [whole, label = "", value = ""] = match;
      if (Object.hasOwn(labels, label)) throw new Error(`the label ${label} is there twice: ${line}`);
      labels[label] = value.replaceAll(/\\(.)/g, (_, character: string) => (character === "n" ? "\n" : character));
      rest = rest.slice(whole.length);
    }
  }
  const value = rest.slice(1);
  if (!/^(-?\d+(\.\d+)?(e[+-]?\d+)?|\+Inf|-Inf|NaN)$/.test(value)) throw new Error(`no number: ${line}`);
  return { name, labels, value: value === "+Inf" ? Infinity : value === "-Inf" ? -Infinity : Number(value) };
}

export function valueOf(
  { samples }: Scrape,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return samples.find(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  )?.value;
}
