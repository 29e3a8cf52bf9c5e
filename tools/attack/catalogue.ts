/** All attacks, family by family. */
import type { Attack } from "./attack.ts";
import { agents } from "./families/agents.ts";
import { bodies } from "./families/bodies.ts";
import { connections } from "./families/connections.ts";
import { lists } from "./families/lists.ts";
import { members } from "./families/members.ts";
import { tenants } from "./families/tenants.ts";

export const attacks: readonly Attack[] = [...tenants, ...agents, ...bodies, ...connections, ...lists, ...members];
