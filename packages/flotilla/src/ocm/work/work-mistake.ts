import { FlotillaError } from "@flotilla/base";

/** An error in the work itself: a retry does not help. */
export class WorkMistakeError extends FlotillaError {
  constructor(message: string) {
    super("WorkMistake", message);
  }
}
