/** All attacks, family by family. */
import type { Attack } from "./attack.ts";
import { bodies } from "./families/bodies.ts";

export const attacks: readonly Attack[] = [...bodies];
