/** Every action that the server knows. */
import type { Action } from "../action.ts";

export const builtInActions: readonly Action[] = [];
