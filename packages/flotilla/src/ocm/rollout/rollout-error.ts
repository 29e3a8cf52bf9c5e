/** An invalid rollout strategy. A retry gives the same result. */
import { FlotillaError } from "@flotilla/base";

export class RolloutError extends FlotillaError {
  constructor(message: string) {
    super("InvalidRollout", message);
  }
}
