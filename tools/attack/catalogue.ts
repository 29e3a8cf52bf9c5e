/** All attacks, family by family. */
import type { Attack } from "./attack.ts";
import { agents } from "./families/agents.ts";
import { bodies } from "./families/bodies.ts";
import { connections } from "./families/connections.ts";
import { lists } from "./families/lists.ts";
import { members } from "./families/members.ts";
import { rollouts } from "./families/rollouts.ts";
import { scripts } from "./families/scripts.ts";
import { store } from "./families/store.ts";
import { tenants } from "./families/tenants.ts";

export const attacks: readonly Attack[] = [
  ...tenants,
  ...agents,
  ...scripts,
  ...bodies,
  ...connections,
  ...members,
  ...rollouts,
  ...store,
  // Last, because their objects stay.
  ...lists,
];

export const familyOf = ({ name }: Pick<Attack, "name">): string => name.split("/", 1)[0] ?? "";
export const familyNames = (): string[] => [...new Set(attacks.map(familyOf))];
