/** Whose script runs. */
import type { Operation } from "@flotilla/kubernetes";

/** The owner of a script. A customization has at most one script per operation. */
export interface ScriptOwner {
  readonly customization: string;
  readonly operation: Operation;
}
