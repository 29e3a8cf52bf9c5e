import { FlotillaError } from "../../base/index.ts";

/** An error in the work itself: a retry does not help. */
export class WorkMistakeError extends FlotillaError {
  constructor(message: string) {
    super("WorkMistake", message);
  }
}
