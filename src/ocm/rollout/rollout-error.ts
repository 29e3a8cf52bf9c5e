/** An invalid rollout strategy. A retry gives the same result. */
import { FlotillaError } from "../../base/index.ts";

export class RolloutError extends FlotillaError {
  constructor(message: string) {
    super("InvalidRollout", message);
  }
}
