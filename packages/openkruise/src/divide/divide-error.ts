/**
 * A template that cannot be divided as requested. Retrying yields the same error, so the caller waits for a change of
 * the template.
 */
import { InterpretError } from "@flotilla/kubernetes";

export class DivideError extends InterpretError {}
