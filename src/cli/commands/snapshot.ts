/** `flotilla snapshot save|restore`: one file that holds a whole fleet, and the way back. */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";

export const snapshotCommand = defineCommand({
  name: "snapshot",
  summary: "save the fleet's data to one file, also while it runs, or restore it",
  details:
    "The file holds all objects, certificates and keys. Restoring makes a new data directory and replaces nothing; clients that saw what was lost are told to list again.",
  example: [
    { says: "Save a fleet, also while it runs.", run: "flotilla snapshot save fleet.snapshot" },
    { says: "Make a new data directory from it.", run: "flotilla snapshot restore fleet.snapshot --data ./fleet-2" },
    { says: "Start the copy.", run: "flotilla up --data ./fleet-2" },
  ],
  args: [
    { name: "ACTION", description: "save or restore", required: true, choices: ["save", "restore"] },
    {
      name: "FILE",
      description: "the snapshot; it holds keys and Secrets, so keep it as safe as the data directory",
      required: true,
      completes: "file",
    },
  ],
  flags: {
    data: {
      type: "string",
      value: "DIR",
      description: "data directory of the fleet (default ~/.flotilla); restore needs one without a store",
    },
  },
  async run({ args: [action = "", file = ""], flags, output, environment, snapshots }) {
    const data = flags.data ?? defaultDataDirectory(environment);
    if (action !== "save" && action !== "restore")
      throw new UsageError(`the action is save or restore, not '${action}'`);
    output.progress(action === "save" ? `saving ${data} to ${file}` : `restoring ${file} into ${data}`);
    const info = await snapshots[action](data, file);
    output.result({ action, data, file, ...info }, () =>
      action === "save"
        ? `saved ${info.objects} objects at revision ${info.revision} to ${file}`
        : `restored ${info.objects} objects of revision ${info.revision} into ${data}; start it with: ${output.called("flotilla up")} --data ${data}`,
    );
  },
});
