/** `maxSurge: 25%` and its like, as the controllers of Kubernetes read them. */
import type { IntOrString } from "../../api/index.ts";
import { TerminalError } from "../../base/index.ts";

/** Whole percents with the sign, or an integer. What is neither cannot be worked with until somebody changes it. */
export function scaledIntOrPercent(value: IntOrString, total: number, round: "up" | "down"): number {
  if (typeof value === "number") return value;
  const match = /^(\d{1,9})%$/.exec(value);
  if (!match) throw new TerminalError(`reading ${JSON.stringify(value)}: it must be an integer or a percentage such as 25%`);
  const exact = (Number(match[1]) * total) / 100;
  return round === "up" ? Math.ceil(exact) : Math.floor(exact);
}
