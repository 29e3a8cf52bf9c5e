/** Which kinds have a built-in rule for their health; the others count as healthy as soon as they exist. */
import { parseApiVersion } from "@flotilla/apimachinery";
import { knownKinds } from "./interpreter.ts";

const JUDGED = new Set(knownKinds.flatMap(({ group, kind, isHealthy }) => (isHealthy ? [`${group}/${kind}`] : [])));

export const hasHealthRule = ({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean =>
  JUDGED.has(`${parseApiVersion(apiVersion).group}/${kind}`);
