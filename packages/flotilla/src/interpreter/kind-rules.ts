/** What the interpreters of built-in kinds declare, without running a rule. */
import { parseApiVersion } from "@flotilla/apimachinery";
import type { KindInterpreter } from "@flotilla/kubernetes";
import { knownKinds } from "./interpreter.ts";
import type { AnyObject } from "./interpreter.ts";

export type KindRef = Pick<AnyObject, "apiVersion" | "kind">;

const kinds = new Map(knownKinds.map((kind) => [`${kind.group}/${kind.kind}`, kind as KindInterpreter]));

export const rulesOfGroupKind = ({ group, kind }: { group: string; kind: string }): KindInterpreter | undefined =>
  kinds.get(`${group}/${kind}`);

export const rulesOfKind = ({ apiVersion, kind }: KindRef): KindInterpreter | undefined =>
  rulesOfGroupKind({ group: parseApiVersion(apiVersion).group, kind });
