/** A strategy that cannot be followed as it is written. Asking again gives the same answer. */
import { FlotillaError } from "../../base/index.ts";

export class RolloutError extends FlotillaError {
  constructor(message: string) {
    super("InvalidRollout", message);
  }
}
