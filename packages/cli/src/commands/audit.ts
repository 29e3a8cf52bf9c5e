/** `flotilla audit`: what the controllers decided, and what users changed. */
import { HUB } from "@flotilla/apimachinery";
import type { Json } from "@flotilla/base";
import { UsageError } from "@flotilla/base";
import { Decision } from "@flotilla/flotilla";
import { readLines, selectRecords } from "../audit/audit-records.ts";
import type { AuditRecord } from "../audit/audit-records.ts";
import { readTime } from "../audit/audit-times.ts";
import { namesOfType } from "../audit/type-names.ts";
import { renderAudit } from "../audit/render-audit.ts";
import { defineCommand } from "../command.ts";
import type { CommandContext } from "../command.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const flags = {
  ...namespaceFlag,
  since: {
    type: "string",
    value: "TIME",
    description: "only records from then on: a duration (1h), a time of day in UTC (03:12), or a date with a time",
  },
  until: { type: "string", value: "TIME", description: "only records up to then, written like --since" },
  cluster: { type: "string", value: "NAME", completes: "cluster", description: "only records about this member" },
  user: { type: "string", value: "USER", description: "only records of this user or controller" },
  filename: {
    type: "string",
    short: "f",
    value: "FILE",
    repeated: true,
    description: "read this audit log instead of asking the hub; may be repeated, - is standard input",
  },
  ...hubFlags,
} as const;

export const auditCommand = defineCommand({
  name: "audit",
  summary: "show what the controllers decided and why: placements, moves, evictions, rollout steps",
  details:
    "The hub keeps the newest 10,000 decisions, also across restarts; DIR/decisions.jsonl has more. With " +
    "an audit log (--audit-log-path of 'flotilla up'), -f reads decisions and the requests of users from " +
    "it, in order. Without an object, and with -f, all namespaces are shown unless -n is given.",
  example: [
    { says: "What moved this workload in the last hour?", run: "flotilla audit cloneset/web -n shop --since 1h" },
    {
      says: "Everything that concerns a member, around 03:12 UTC.",
      run: "flotilla audit --cluster member1 --since 03:00 --until 03:30",
    },
    { says: "Decisions and requests from the audit log.", run: "flotilla audit deployment/cart -f audit.log" },
  ],
  args: [
    {
      name: "TYPE/NAME",
      description: "only this object, or all objects of a TYPE",
      required: false,
      completes: "resource",
    },
  ],
  flags,
  async run(context) {
    const { args, flags: given, output, clock } = context;
    const nowMs = clock.now();
    const [type, name] = readObject(args[0]);
    const { records, namespace } = await readRecords(context);
    const selected = selectRecords(records, {
      types: type === undefined ? undefined : namesOfType(type),
      name,
      // Without an object, and in a file, all namespaces are meant.
      namespace: given.namespace ?? (name === undefined ? undefined : namespace),
      fromMs: given.since === undefined ? undefined : readTime("--since", given.since, nowMs),
      untilMs: given.until === undefined ? undefined : readTime("--until", given.until, nowMs),
      cluster: given.cluster,
      user: given.user,
    });
    output.result(
      selected.map((record) => (record.type === "decision" ? record.decision : record.event)) as unknown as Json,
      () => renderAudit(selected, output.width),
    );
  },
});

function readObject(text: string | undefined): [type: string | undefined, name: string | undefined] {
  if (text === undefined) return [undefined, undefined];
  const [type = "", name, ...rest] = text.split("/");
  if (type === "" || name === "" || rest.length > 0)
    throw new UsageError(`'${text}' names no object; use TYPE/NAME, such as deployment/web, or a TYPE`);
  return [type, name];
}

async function readRecords(
  context: CommandContext<typeof flags>,
): Promise<{ records: AuditRecord[]; namespace?: string }> {
  const { flags: given, output, signal, connect, environment, readFile, readInput } = context;
  if (given.filename.length > 0) {
    const records: AuditRecord[] = [];
    for (const file of given.filename) {
      const { records: found, others } = readLines(file === "-" ? await readInput() : await readFile(file));
      records.push(...found);
      if (others > 0) output.warn(`${file}: ${others} lines are not audit records`);
    }
    return { records };
  }
  const hub = await connect(hubKubeconfig(given, environment));
  try {
    const { items } = await hub.client.list(Decision, { cluster: HUB, signal });
    return {
      records: items.map((decision) => ({ type: "decision", decision: decision as Decision })),
      namespace: chosenNamespace(given, hub),
    };
  } finally {
    await hub.close();
  }
}
