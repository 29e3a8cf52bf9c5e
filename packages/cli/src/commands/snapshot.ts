/** `flotilla snapshot save|restore`: saves a whole fleet to one file, and restores it, into a data directory or etcd. */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import { hubDataDirectory, hubFlags } from "../membership/hub-kubeconfig.ts";
import { storeFlags, storeOptions } from "./store-flags.ts";

export const snapshotCommand = defineCommand({
  name: "snapshot",
  summary: "save the fleet's data to one file, even while it runs, or restore it",
  details:
    "A snapshot is saved on the machine of the hub, whose data directory is that of its kubeconfig, as for " +
    "other commands. The file holds all objects, certificates and keys. Restoring creates a new data " +
    "directory and overwrites nothing; clients of the former hub get an error that makes them list again. " +
    "With --store the objects are read from or written to etcd, and the data directory has the keys: so a " +
    "hub moves from one machine to several, and back. Stop its API servers before you move it.",
  example: [
    { says: "Save a fleet, even while it runs.", run: "flotilla snapshot save fleet.snapshot" },
    { says: "Restore it into a new data directory.", run: "flotilla snapshot restore fleet.snapshot --data ./fleet-2" },
    { says: "Start the restored fleet.", run: "flotilla up --data ./fleet-2" },
    {
      says: "Move a stopped hub to etcd.",
      run: "flotilla snapshot restore fleet.snapshot --data ./hub1 --store etcd://etcd1:2379,etcd2:2379",
    },
  ],
  args: [
    { name: "ACTION", description: "save or restore", required: true, choices: ["save", "restore"] },
    {
      name: "FILE",
      description: "the snapshot; it contains keys and Secrets, so protect it like the data directory",
      required: true,
      completes: "file",
    },
  ],
  flags: {
    kubeconfig: {
      ...hubFlags.kubeconfig,
      description: "save: kubeconfig in the data directory of the hub (default: $KUBECONFIG)",
    },
    context: { ...hubFlags.context, description: "save: context of the hub, in one of several kubeconfigs" },
    data: {
      type: "string",
      value: "DIR",
      description:
        "data directory of the fleet (default: that of the kubeconfig, else ~/.flotilla); restore needs one without a store",
    },
    ...storeFlags,
    store: {
      ...storeFlags.store,
      description:
        "the objects are in etcd instead of DIR: etcd://HOST:PORT,HOST:PORT[/PREFIX]; restore needs an empty prefix",
    },
  },
  async run({ args: [action = "", file = ""], flags, output, environment, snapshots }) {
    if (action !== "save" && action !== "restore")
      throw new UsageError(`unknown action '${action}': use save or restore`);
    if (action === "restore" && (flags.kubeconfig ?? flags.context) !== undefined)
      throw new UsageError("a snapshot is restored into a new data directory: use --data DIR");
    const data =
      action === "save"
        ? await hubDataDirectory(flags, environment)
        : (flags.data ?? defaultDataDirectory(environment));
    const store = storeOptions(flags);
    const doing = action === "save" ? `saving ${data} to ${file}` : `restoring ${file} into ${data}`;
    output.progress(doing);
    const onProgress = (objects: number): void => output.progress(`${doing}: ${objects} objects`);
    const info = await snapshots[action]({ data, store, onProgress }, file);
    output.result({ action, data, file, ...info }, () =>
      action === "save"
        ? `saved ${info.objects} objects at revision ${info.revision} to ${file}`
        : store
          ? `restored ${info.objects} objects into etcd and the keys into ${data}; start it with ` +
            `${output.called("flotilla up")} or ${output.called("flotilla apiserver")}, --data ${data} and ` +
            "the same --store"
          : `restored ${info.objects} objects of revision ${info.revision} into ${data}; start it with: ${output.called("flotilla up")} --data ${data}`,
    );
  },
});
