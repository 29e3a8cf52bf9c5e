/** All members at a glance, and as a list. */
import { useMemo } from "preact/hooks";
import { formatAgo, formatBytes } from "../../src/format.ts";
import type { MemberRow } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { formatNumber, t } from "../i18n.ts";
import { Bar } from "../parts/bar.tsx";
import { FleetMap } from "../parts/fleet-map.tsx";
import { MemberWord, wordOfMember } from "../parts/glyph.tsx";
import { useNow } from "../parts/hooks.ts";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { Column } from "../parts/table.tsx";
import { href, setQuery } from "../router.ts";

const GROUPS = {
  region: (member: MemberRow) => member.region || t("no region"),
  state: (member: MemberRow) => wordOfMember(member.state),
  mode: (member: MemberRow) => member.mode,
  version: (member: MemberRow) => member.version || t("unknown"),
} as const;

export function FleetView({ route }: ViewProps) {
  const fleet = useFleet();
  const nowMs = useNow();
  const group = (route.query.get("group") ?? "region") as keyof typeof GROUPS;
  const size = route.query.get("size") ?? "same";
  const filter = route.query.get("q") ?? "";
  const members = useMemo(() => fleet.members.filter((member) => matches(member, filter)), [fleet.version, filter]);
  const used = useMemo(() => workloadsPerMember(fleet.workloads), [fleet.version]);
  if (fleet.error !== "" && !fleet.loaded) return <Failed reason={fleet.error} />;
  if (!fleet.loaded) return <Loading />;
  if (fleet.members.length === 0) {
    if (fleet.scope.hidden.includes("clusters"))
      return (
        <Empty title={t("You are not allowed to list the members")}>
          {t("Ask an administrator for the right: list clusters.cluster.karmada.io")}
        </Empty>
      );
    return (
      <Empty
        title={t("The fleet has no members yet")}
        commands={["flotilla join NAME --cluster-kubeconfig FILE", "flotilla token", "flotilla up --members 3"]}
      >
        {t("A member is a Kubernetes cluster. Join one, or let its agent join with a token.")}
      </Empty>
    );
  }
  const columns = memberColumns(used, nowMs);
  return (
    <div class="view fleet">
      <h1 class="visually-hidden">{t("Fleet")}</h1>
      <Summary />
      <section class="panel map">
        <div class="controls">
          <label>
            {t("group by")}
            <select value={group} onChange={({ currentTarget }) => setQuery(route, { group: currentTarget.value })}>
              <option value="region">{t("region")}</option>
              <option value="state">{t("state")}</option>
              <option value="mode">{t("mode")}</option>
              <option value="version">{t("version")}</option>
            </select>
          </label>
          <label>
            {t("size by")}
            <select value={size} onChange={({ currentTarget }) => setQuery(route, { size: currentTarget.value })}>
              <option value="same">{t("all the same")}</option>
              <option value="cpu">{t("free CPU")}</option>
              <option value="workloads">{t("workloads")}</option>
            </select>
          </label>
          <Legend />
        </div>
        <FleetMap
          members={members}
          groupOf={GROUPS[group] ?? GROUPS.region}
          weightOf={(member) =>
            size === "cpu" ? member.cpu.free : size === "workloads" ? (used.get(member.name) ?? 0) : 1
          }
          describe={(member) => describe(member, used.get(member.name) ?? 0, nowMs)}
        />
      </section>
      <div class="controls">
        <input
          type="search"
          placeholder={t("Filter members")}
          aria-label={t("Filter members")}
          value={filter}
          onInput={({ currentTarget }) => setQuery(route, { q: currentTarget.value })}
        />
        <span class="muted">
          {members.length === fleet.members.length
            ? t("{count} members", { count: formatNumber(members.length) })
            : t("{count} of {all} members", {
                count: formatNumber(members.length),
                all: formatNumber(fleet.members.length),
              })}
        </span>
      </div>
      <Table
        label={t("Members")}
        rows={members}
        columns={columns}
        keyOf={({ name }) => name}
        hrefOf={({ name }) => href(["member", name])}
      />
    </div>
  );
}

const matches = (member: MemberRow, filter: string): boolean =>
  filter === "" ||
  `${member.name} ${member.region} ${member.state} ${member.mode} ${member.version}`
    .toLowerCase()
    .includes(filter.toLowerCase());

function workloadsPerMember(workloads: ReturnType<typeof useFleet>["workloads"]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { cells } of workloads) for (const { member } of cells) counts.set(member, (counts.get(member) ?? 0) + 1);
  return counts;
}

function describe(member: MemberRow, workloads: number, nowMs: number): string {
  return [
    `${member.name} · ${wordOfMember(member.state)} · ${member.mode}`,
    t("{count} workloads", { count: workloads }),
    member.cpu.all > 0 ? `${t("free CPU")} ${Math.round(member.cpu.free)}/${Math.round(member.cpu.all)}` : "",
    member.heard === "" ? "" : t("heard {ago} ago", { ago: formatAgo(member.heard, nowMs) }),
    member.message,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function Summary() {
  const { members, workloads } = useFleet();
  const count = (state: MemberRow["state"]): number => members.filter((member) => member.state === state).length;
  const [cpu, memory] = [sum(members, "cpu"), sum(members, "memory")];
  const unhealthy = workloads.filter(({ health }) => health === "failed" || health === "stale").length;
  const moving = workloads.filter(({ health }) => health === "progressing").length;
  const away = count("away");
  return (
    <dl class="summary">
      <div>
        <dt>{t("Members ready")}</dt>
        <dd class={away > 0 ? "bad" : ""}>
          {formatNumber(count("ready") + count("slow"))}
          <small>/{formatNumber(members.length)}</small>
        </dd>
        <dd class="note">
          {away > 0
            ? t("{count} away", { count: away })
            : count("waiting") > 0
              ? t("{count} not accepted", { count: count("waiting") })
              : t("all respond")}
        </dd>
      </div>
      <div>
        <dt>{t("Workloads healthy")}</dt>
        <dd class={unhealthy > 0 ? "bad" : ""}>
          {formatNumber(workloads.length - unhealthy - moving)}
          <small>/{formatNumber(workloads.length)}</small>
        </dd>
        <dd class="note">
          {unhealthy > 0 ? (
            <a href={href(["workloads"], { only: "unhealthy" })}>{t("{count} not healthy", { count: unhealthy })}</a>
          ) : moving > 0 ? (
            t("{count} in progress", { count: moving })
          ) : (
            t("nothing is moving")
          )}
        </dd>
      </div>
      <Capacity
        title={t("CPU requested")}
        used={cpu.all - cpu.free}
        all={cpu.all}
        text={(value) => formatNumber(Math.round(value))}
      />
      <Capacity title={t("Memory requested")} used={memory.all - memory.free} all={memory.all} text={formatBytes} />
    </dl>
  );
}

const sum = (members: readonly MemberRow[], field: "cpu" | "memory"): { free: number; all: number } =>
  members.reduce((total, member) => ({ free: total.free + member[field].free, all: total.all + member[field].all }), {
    free: 0,
    all: 0,
  });

function Capacity({
  title,
  used,
  all,
  text,
}: {
  title: string;
  used: number;
  all: number;
  text(value: number): string;
}) {
  const share = all === 0 ? 0 : used / all;
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {Math.round(share * 100)}
        <small> %</small>
      </dd>
      <dd class="note">
        <Bar
          desired={100}
          ready={Math.round(share * 100)}
          tone={share > 0.9 ? "bad" : share > 0.75 ? "busy" : "good"}
          label={title}
        />
        {t("{used} of {all}", { used: text(used), all: text(all) })}
      </dd>
    </div>
  );
}

function Legend() {
  return (
    <span class="legend">
      {(["ready", "slow", "away", "waiting"] as const).map((state) => (
        <MemberWord key={state} state={state} />
      ))}
    </span>
  );
}

function memberColumns(used: ReadonlyMap<string, number>, nowMs: number): Column<MemberRow>[] {
  return [
    { key: "name", title: t("Member"), width: "minmax(120px, 1.4fr)", cell: ({ name }) => <b>{name}</b> },
    {
      key: "state",
      title: t("State"),
      width: "minmax(110px, 1fr)",
      cell: ({ state, cordoned }) => (
        <>
          <MemberWord state={state} />
          {cordoned && <em class="tag">{t("cordoned")}</em>}
        </>
      ),
    },
    {
      key: "workloads",
      title: t("Workloads"),
      width: "90px",
      align: "end",
      cell: ({ name }) => formatNumber(used.get(name) ?? 0),
    },
    { key: "nodes", title: t("Nodes"), width: "70px", align: "end", minor: true, cell: ({ nodes }) => nodes || "–" },
    {
      key: "cpu",
      title: t("CPU requested"),
      width: "minmax(110px, 1fr)",
      minor: true,
      cell: ({ cpu }) => <Used used={cpu.all - cpu.free} all={cpu.all} label={t("CPU requested")} />,
    },
    {
      key: "memory",
      title: t("Memory requested"),
      width: "minmax(110px, 1fr)",
      minor: true,
      cell: ({ memory }) => <Used used={memory.all - memory.free} all={memory.all} label={t("Memory requested")} />,
    },
    {
      key: "region",
      title: t("Region"),
      width: "minmax(70px, 0.7fr)",
      minor: true,
      cell: ({ region }) => region || "–",
    },
    {
      key: "mode",
      title: t("Mode"),
      width: "110px",
      minor: true,
      cell: ({ mode, heard }) => (
        <>
          {mode}
          {heard !== "" && <span class="muted"> {formatAgo(heard, nowMs)}</span>}
        </>
      ),
    },
    { key: "version", title: t("Version"), width: "90px", minor: true, cell: ({ version }) => version },
  ];
}

function Used({ used, all, label }: { used: number; all: number; label: string }) {
  if (all === 0) return <span class="muted">–</span>;
  const percent = Math.round((used / all) * 100);
  return (
    <span class="used">
      <Bar desired={100} ready={percent} tone={percent > 90 ? "bad" : percent > 75 ? "busy" : "good"} label={label} />
      <span class="number">{percent} %</span>
    </span>
  );
}
