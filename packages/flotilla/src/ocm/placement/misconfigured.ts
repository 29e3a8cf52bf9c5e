/** A misconfigured Placement: the error is reported in its condition, and the previous decision stays. */
import { FlotillaError } from "@flotilla/base";

export class Misconfigured extends FlotillaError {
  /** The part of the scheduler that found the error, as the condition names it; empty if OCM names none. */
  readonly part: string;

  constructor(part: string, message: string) {
    super("Misconfigured", message);
    this.part = part;
  }
}
