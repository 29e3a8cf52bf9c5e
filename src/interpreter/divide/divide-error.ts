/**
 * A template that cannot be divided as it asks for. Asking again gives the same answer, so whoever divides waits for a
 * change.
 */
import { InterpretError } from "../interpret-error.ts";

export class DivideError extends InterpretError {}
