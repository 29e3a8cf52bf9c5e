/** Prometheus text format: metric families, each with its help and type. */
import type { Metric } from "./metric.ts";

export type Labels = readonly (readonly [name: string, value: string])[];

/** The Content-Type of a page in this format. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export class MetricsText {
  readonly #lines: string[] = [];

  family({ name, type, help }: Pick<Metric, "name" | "type" | "help">): void {
    this.#lines.push(`# HELP ${name} ${help.replaceAll(/[\\\n]/g, escapeCharacter)}`, `# TYPE ${name} ${type}`);
  }

  sample(name: string, labels: Labels, value: number): void {
    this.figure(name, formatLabels(labels), value);
  }

  /** A sample whose labels are already formatted, without braces. */
  figure(name: string, labels: string, value: number): void {
    this.#lines.push(labels === "" ? `${name} ${value}` : `${name}{${labels}} ${value}`);
  }

  /** Lines that are already formatted, without the final newline. */
  lines(written: string): void {
    if (written !== "") this.#lines.push(written);
  }

  finish(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

/** The text between the braces. */
export const formatLabels = (labels: Labels): string =>
  labels.map(([name, value]) => formatLabel(name, value)).join(",");

/** `name="value"`, with the value escaped. */
export function formatLabel(name: string, value: string): string {
  return `${name}="${value.replaceAll(/[\\"\n]/g, escapeCharacter)}"`;
}

const escapeCharacter = (character: string): string => (character === "\n" ? "\\n" : `\\${character}`);
