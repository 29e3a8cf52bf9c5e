/** The keys that encrypt stored objects, from the flag of a process. */
import { readEncryptionConfiguration } from "@flotilla/apiserver";
import type { EncryptionRule } from "@flotilla/apiserver";
import type { Log } from "@flotilla/base";
import { Work } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";
import { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import { readOption } from "../process/read-option.ts";

/** They contain the objects that they deliver, Secrets included. */
const CARRIERS = [Work, ManifestWork, ManifestWorkReplicaSet];

/** Throws `UsageError` and `ConfigurationError`. */
export async function openEncryption(file: string | undefined, log: Log): Promise<readonly EncryptionRule[]> {
  if (file === undefined) return [];
  const rules = readEncryptionConfiguration(await readOption("--encryption-provider-config", file), file);
  const isEncrypted = ({ group, plural }: { group: string; plural: string }): boolean =>
    (rules.find(({ matches }) => matches(group, plural))?.providers[0]?.prefix ?? "") !== "";
  const plain = CARRIERS.filter((kind) => !isEncrypted(kind));
  if (isEncrypted(Secret) && plain.length > 0)
    log.warn("Secrets are encrypted at rest, but objects that contain propagated Secrets are not", {
      add: plain.map(({ group, plural }) => `${plural}.${group}`).join(" "),
    });
  return rules;
}
