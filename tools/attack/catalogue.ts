/** All attacks, family by family. */
import type { Attack } from "./attack.ts";
import { bodies } from "./families/bodies.ts";
import { connections } from "./families/connections.ts";
import { lists } from "./families/lists.ts";
import { members } from "./families/members.ts";

export const attacks: readonly Attack[] = [...bodies, ...connections, ...lists, ...members];
