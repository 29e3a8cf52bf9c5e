/** The flags of commands that connect to etcd. */
import { UsageError } from "@flotilla/base";
import type { Flag, FlagValues } from "../command.ts";
import type { StoreOptions } from "../fleet-starter.ts";

export const storeFlags = {
  store: {
    type: "string",
    value: "URL",
    description:
      "keep objects in etcd instead of DIR: etcd://HOST:PORT,HOST:PORT[/PREFIX], or etcds:// with TLS; several " +
      "API servers may share it (default prefix /flotilla)",
  },
  "store-ca-file": { type: "string", value: "FILE", description: "certificate authority of etcd, with etcds://" },
  "store-cert-file": { type: "string", value: "FILE", description: "client certificate for etcd, with etcds://" },
  "store-key-file": { type: "string", value: "FILE", description: "key of --store-cert-file" },
  "store-password-file": {
    type: "string",
    value: "FILE",
    description: "password of the etcd user that --store names (etcd://NAME@HOST:PORT)",
  },
} as const satisfies Record<string, Flag>;

export function storeOptions(flags: FlagValues<typeof storeFlags>): StoreOptions | undefined {
  const address = flags.store;
  const files = {
    caFile: flags["store-ca-file"],
    certificateFile: flags["store-cert-file"],
    keyFile: flags["store-key-file"],
    passwordFile: flags["store-password-file"],
  };
  if (address === undefined) {
    if (Object.values(files).some((file) => file !== undefined))
      throw new UsageError(
        "--store-ca-file, --store-cert-file, --store-key-file and --store-password-file need --store",
      );
    return undefined;
  }
  if ((files.certificateFile === undefined) !== (files.keyFile === undefined))
    throw new UsageError("--store-cert-file and --store-key-file belong together");
  return { address, ...files };
}
