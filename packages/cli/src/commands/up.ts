/** `flotilla up`: runs a hub and simulated members in this process, until Ctrl-C. */
import { resolve } from "node:path";
import { dnsLabelProblems, HUB } from "@flotilla/apimachinery";
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import type { Fleet } from "../fleet-starter.ts";
import type { Paint } from "../paint.ts";
import { temporaryData } from "../temporary-data.ts";
import {
  aborted,
  controllerFlags,
  controllerOptions,
  hubProcessFlags,
  hubProcessOptions,
  namesIn,
  taintPolicyFlag,
} from "./serve-flags.ts";

const DEFAULT_MEMBERS = 3;

export const upCommand = defineCommand({
  name: "up",
  summary: "start a hub and simulated member clusters, and run until Ctrl-C",
  details:
    "Everything runs in this process: no cluster, no Docker, no root. A line that starts with 'ready' is " +
    "printed when every component responds. State is kept in the data directory: the next start resumes " +
    "from it, even after kill -9.",
  serves: true,
  example: [
    { says: "Start a hub and three members, or resume them.", run: "flotilla up" },
    { says: "Start a larger fleet.", run: "flotilla up --members 5 --nodes 10" },
    { says: "Keep the data here, and use another port.", run: "flotilla up --data ./fleet --port 7443" },
    { says: "Query it from another terminal.", run: "kubectl --kubeconfig ~/.flotilla/hub.kubeconfig get clusters" },
  ],
  args: [],
  flags: {
    members: {
      type: "integer",
      maximum: 10_000,
      description: "minimum number of simulated member clusters; members of an earlier start stay (default 3)",
    },
    "member-names": {
      type: "string",
      value: "A,B",
      description: "names of the simulated member clusters, instead of a number of them",
    },
    pull: {
      type: "string",
      value: "all|A,B",
      description: "pull-mode members: an agent in this process serves them, and the hub does not connect to them",
    },
    nodes: {
      type: "integer",
      default: 3,
      maximum: 5_000,
      description: "simulated nodes per member; with 0 members store objects but run nothing",
    },
    "start-ms": {
      type: "integer",
      value: "MS",
      default: 1000,
      maximum: 3_600_000,
      description: "how long simulated pods take to start, to restart and to stop",
    },
    kruise: {
      type: "string",
      choices: ["installed", "none"],
      default: "installed",
      description: "whether members have OpenKruise",
    },
    "kruise-gates": {
      type: "string",
      value: "GATES",
      description: "feature gates of OpenKruise, in the format of its manager: CloneSetShortHash=true,…",
    },
    "ui-port": {
      type: "integer",
      value: "P",
      maximum: 65_535,
      description: "port of the web UI on 127.0.0.1 (default: the one above --port, or any free one)",
    },
    open: { type: "boolean", description: "open the web UI in the browser" },
    ...controllerFlags,
    "allow-no-execute-taint-policy": taintPolicyFlag,
    ...hubProcessFlags,
  },
  async run({ flags, output, signal, startFleet, openBrowser, environment }) {
    if (flags["no-ui"] && (flags.open || flags["ui-port"] !== undefined))
      throw new UsageError("--no-ui serves no web UI, so --open and --ui-port do not fit with it");
    const memberNames = namesIn(flags["member-names"]);
    if (memberNames && flags.members !== undefined)
      throw new UsageError("give either --members N or --member-names A,B, not both");
    using temporary = temporaryData(flags);
    const fleet = await startFleet(
      {
        ...hubProcessOptions({ ...flags, data: temporary?.path ?? flags.data }, { environment, output }, "up"),
        ...controllerOptions(flags, flags["allow-no-execute-taint-policy"]),
        members: memberNames?.length ?? flags.members ?? DEFAULT_MEMBERS,
        memberNames: memberNames && checkNames(memberNames),
        nodes: flags.nodes,
        pull: flags.pull === "all" ? "all" : flags.pull ? namesIn(flags.pull) : undefined,
        startMs: flags["start-ms"],
        kruise: flags.kruise === "none" ? "none" : "installed",
        kruiseGates: flags["kruise-gates"],
        uiPort: flags["no-ui"] ? undefined : uiPort(flags["ui-port"], flags.port),
      },
      (text) => output.progress(text),
      signal,
    );
    output.progress("");
    const { url, members, kubeconfigs, logFile } = fleet;
    const ui = fleet.uiLink?.();
    const isDefaultData = fleet.data === resolve(defaultDataDirectory(environment));
    output.result(
      {
        url,
        data: fleet.data,
        members: [...members],
        kubeconfigs: Object.fromEntries(kubeconfigs),
        logFile,
        ui: ui ?? null,
      },
      () =>
        output.called(
          renderReady(fleet, {
            ephemeral: flags.ephemeral,
            asked: flags.members,
            isDefaultData,
            ui,
            paint: output.paint,
          }),
        ),
    );
    if (flags.open && ui !== undefined && !(await openBrowser(ui)))
      output.warn("no browser could be started; open the link yourself");
    try {
      const failure = await Promise.race([fleet.failed, aborted(signal)]);
      if (failure) throw failure;
      output.say("stopping; press Ctrl-C again to exit at once");
    } finally {
      await fleet.stop();
    }
  },
});

/** Beside the hub's own, so that it is the same at the next start. */
const uiPort = (asked: number | undefined, port: number): number =>
  asked ?? (port === 0 || port === MAX_PORT ? 0 : port + 1);
const MAX_PORT = 65_535;

interface ReadyPage {
  ephemeral: boolean;
  /** The value of --members; undefined if it was not given. */
  asked: number | undefined;
  isDefaultData: boolean;
  /** The link of the web UI, if it is served. */
  ui: string | undefined;
  paint: Paint;
}

export function renderReady(
  fleet: Pick<Fleet, "url" | "members" | "kubeconfigs" | "data" | "logFile">,
  page: ReadyPage,
): string {
  const { ephemeral, asked, isDefaultData, ui, paint } = page;
  const { url, members, kubeconfigs, data, logFile } = fleet;
  const shown = members.length > 4 ? `${members.slice(0, 3).join(", ")} … ${members.at(-1)}` : members.join(", ");
  const status = isDefaultData ? "flotilla status" : `flotilla status --data ${data}`;
  return [
    `${paint.green("ready")}  ${url}  hub and ${members.length} member${members.length === 1 ? "" : "s"}${members.length > 0 ? ` (${shown})` : ""}`,
    ...(ui === undefined ? [] : [`ui ${paint.cyan(ui)}`]),
    "",
    "Next, in another terminal:",
    `  ${paint.cyan(`export KUBECONFIG=${kubeconfigs.get(HUB) ?? ""}`)}`,
    `  ${paint.cyan("kubectl get clusters")}`,
    `  ${paint.cyan(status)}`,
    "",
    ...(asked === undefined || members.length <= asked
      ? []
      : [`members   are from an earlier start: --members ${asked} removes none; for fewer, use another --data folder`]),
    ...(members[0] === undefined ? [] : [`members   have kubeconfigs beside it: ${members[0]}.kubeconfig, …`]),
    ephemeral
      ? `data      in memory: objects are lost after a stop; keys and kubeconfigs are in ${data}`
      : `data      ${data}; the next start resumes from there`,
    `log       ${logFile}`,
    ...(ui === undefined
      ? []
      : ["ui        the link above signs in once, within a minute; 'flotilla ui' prints a new one"]),
    "",
    "Ctrl-C stops.",
  ].join("\n");
}

/** Throws `UsageError` for a name that no cluster can have, or that is given twice. */
function checkNames(names: readonly string[]): readonly string[] {
  const bad = names.find((name) => dnsLabelProblems(name).length > 0);
  if (bad !== undefined)
    throw new UsageError(
      `--member-names: '${bad}' is not a valid cluster name; use lower-case letters, digits and '-'`,
    );
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`--member-names has ${twice} twice`);
  return names;
}
