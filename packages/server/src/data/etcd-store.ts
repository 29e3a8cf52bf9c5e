/** Connects to the etcd that `--store` names, with the files of `--store-*-file`. */
import { readFileSync } from "node:fs";
import { openEtcdEngine, openRestored, parseEtcdAddress } from "@flotilla/apiserver";
import type { Engine } from "@flotilla/apiserver";
import { messageOf, UsageError } from "@flotilla/base";
import type { Clock, Log } from "@flotilla/base";
import type { StoreOptions } from "@flotilla/cli";

export async function openEtcdStore(options: StoreOptions, clock: Clock, log: Log): Promise<Engine> {
  const engine = await connectEtcd(options, clock, log);
  try {
    return await openRestored(engine);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** Without the revisions of a restore, for what fills the store. */
export async function connectEtcd(options: StoreOptions, clock: Clock, log: Log): Promise<Engine> {
  const { endpoints, prefix, user } = parseEtcdAddress(options.address);
  const { caFile, certificateFile, keyFile, passwordFile } = options;
  const isEncrypted = endpoints.every(({ protocol }) => protocol === "https:");
  if (!isEncrypted && (caFile !== undefined || certificateFile !== undefined))
    throw new UsageError("--store-ca-file and --store-cert-file need TLS: write etcds:// instead of etcd://");
  if (passwordFile !== undefined && user === undefined)
    throw new UsageError("--store-password-file needs a user in --store: etcd://NAME@HOST:PORT");
  const password = contentOf("--store-password-file", passwordFile)?.replace(/\r?\n$/, "");
  return openEtcdEngine({
    endpoints,
    prefix,
    user: user && { name: user.name, password: password ?? user.password },
    tls: {
      ca: contentOf("--store-ca-file", caFile),
      certificate: contentOf("--store-cert-file", certificateFile),
      key: contentOf("--store-key-file", keyFile),
    },
    clock,
    log,
  });
}

function contentOf(flag: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}
