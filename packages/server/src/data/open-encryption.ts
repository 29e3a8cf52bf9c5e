/** The keys that encrypt stored objects, from the flag of a process. */
import { createKmsPlugin, createKmsProvider, readEncryptionConfiguration } from "@flotilla/apiserver";
import type { EncryptionRule, KmsProvider } from "@flotilla/apiserver";
import type { Clock, Log } from "@flotilla/base";
import { Work } from "@flotilla/karmada";
import { Secret } from "@flotilla/kubernetes";
import { ManifestWork, ManifestWorkReplicaSet } from "@flotilla/ocm";
import { readOption } from "../process/read-option.ts";

/** They contain the objects that they deliver, Secrets included. */
const CARRIERS = [Work, ManifestWork, ManifestWorkReplicaSet];

export interface OpenedEncryption {
  readonly rules: readonly EncryptionRule[];
  /** Ends the use of key management plugins. */
  close(): Promise<void>;
}

/** Throws `UsageError`, `ConfigurationError`, and `StoreError` when a key management plugin does not work. */
export async function openEncryption(
  file: string | undefined,
  { clock, log }: { clock: Clock; log: Log },
): Promise<OpenedEncryption> {
  const managed: KmsProvider[] = [];
  const close = async (): Promise<void> => {
    for (const provider of managed) provider.close();
  };
  if (file === undefined) return { rules: [], close };
  const content = await readOption("--encryption-provider-config", file);
  const rules = readEncryptionConfiguration(content, file, ({ name, ...socket }) => {
    const provider = createKmsProvider({ name, plugin: createKmsPlugin({ ...socket, clock }), clock, log });
    managed.push(provider);
    return provider;
  });
  try {
    for (const provider of managed) await provider.start();
  } catch (error) {
    await close();
    throw error;
  }
  const isEncrypted = ({ group, plural }: { group: string; plural: string }): boolean =>
    (rules.find(({ matches }) => matches(group, plural))?.providers[0]?.prefix ?? "") !== "";
  const plain = CARRIERS.filter((kind) => !isEncrypted(kind));
  if (isEncrypted(Secret) && plain.length > 0)
    log.warn("Secrets are encrypted at rest, but objects that contain propagated Secrets are not", {
      add: plain.map(({ group, plural }) => `${plural}.${group}`).join(" "),
    });
  return { rules, close };
}
