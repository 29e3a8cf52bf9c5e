import { FlotillaError } from "../../base/index.ts";

/** A mistake in the work itself: no second try changes it. */
export class WorkMistakeError extends FlotillaError {
  constructor(message: string) {
    super("WorkMistake", message);
  }
}
