/** A Placement that asks for what cannot be: it is told in its condition, and what was decided before stays. */
import { FlotillaError } from "../../base/index.ts";

export class Misconfigured extends FlotillaError {
  /** The part of the scheduler that found it, as the condition names it; empty where OCM names none. */
  readonly part: string;

  constructor(part: string, message: string) {
    super("Misconfigured", message);
    this.part = part;
  }
}
