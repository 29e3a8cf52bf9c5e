/** Prometheus' text format: families of samples, each with its help and type. */
export type Labels = readonly (readonly [name: string, value: string])[];

export class MetricsText {
  readonly #lines: string[] = [];

  family(name: string, type: "counter" | "gauge" | "histogram", help: string): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  sample(name: string, labels: Labels, value: number): void {
    this.#lines.push(`${name}${formatLabels(labels)} ${value}`);
  }

  finish(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

function formatLabels(labels: Labels): string {
  if (labels.length === 0) return "";
  return `{${labels.map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, escapeCharacter)}"`).join(",")}}`;
}

const escapeCharacter = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);
