/**
 * A change of a member's object that Flotilla decided not to write. It is not retried: the work is reconciled again when
 * it, its objects or the rules of its kind change. The code is the reason on the work.
 */
import { FlotillaError } from "@flotilla/base";

export abstract class StoppedWriteError extends FlotillaError {}
