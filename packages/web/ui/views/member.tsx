/** One member: what runs there, its machines, what would happen without it, and what may be done to it. */
import { useState } from "preact/hooks";
import { formatAgo, formatBytes, formatShare } from "../../src/format.ts";
import type { MemberRow } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { formatNumber, t } from "../i18n.ts";
import { Action } from "../parts/action.tsx";
import { Bar } from "../parts/bar.tsx";
import { Command } from "../parts/command.tsx";
import { HealthWord, MemberWord, toneOf } from "../parts/glyph.tsx";
import { useLoaded, useNow } from "../parts/hooks.ts";
import type { Right } from "../parts/hooks.ts";
import { PlanView } from "../parts/plan-view.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { Column } from "../parts/table.tsx";
import { askPlan } from "../plan.ts";
import { href, objectPath, setQuery } from "../router.ts";
import { hub } from "../session.ts";

const TABS = ["workloads", "nodes", "pods", "what-if"] as const;
const CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters";
const MANAGED = "/apis/cluster.open-cluster-management.io/v1/managedclusters";
const FAULT = "simulation.flotilla.dev/fault";
const CORDON_TAINT = "node.kubernetes.io/unschedulable";

export function MemberView({ route }: ViewProps) {
  const fleet = useFleet();
  const nowMs = useNow();
  const name = route.path[1] ?? "";
  const tab = TABS.find((each) => each === route.path[2]) ?? "workloads";
  const member = fleet.member(name);
  if (!fleet.loaded) return <Loading />;
  if (!member)
    return (
      <Empty
        title={t("The fleet has no member {name}", { name })}
        commands={["flotilla status", `flotilla join ${name} --cluster-kubeconfig FILE`]}
      />
    );
  const titles = {
    workloads: t("Workloads"),
    nodes: t("Nodes"),
    pods: t("Pods"),
    "what-if": t("What if it left?"),
  } as const;
  return (
    <div class="view fill-view member">
      <header class="object-head">
        <div>
          <p class="muted">
            {member.mode === "push" ? t("the hub connects to it") : t("its agent connects to the hub")} ·{" "}
            {member.apis.join(" + ")} · {member.version}
          </p>
          <h1>{member.name}</h1>
        </div>
        <div class="object-state">
          <MemberWord state={member.state} />
          {member.cordoned && <em class="tag busy">{t("cordoned")}</em>}
          {member.cut && <em class="tag bad">{t("cut off on purpose")}</em>}
          <span class="muted">
            {member.nodes !== "" && t("{nodes} nodes ready", { nodes: member.nodes })}
            {member.heard !== "" && ` · ${t("heard {ago} ago", { ago: formatAgo(member.heard, nowMs) })}`}
          </span>
        </div>
        <Actions member={member} />
        {member.message !== "" && <p class="bad object-note">{member.message}</p>}
      </header>
      {member.state === "waiting" && (
        <section class="panel">
          <h2>{t("It waits to be accepted")}</h2>
          <p>{t("Its agent registered, and the hub gives it nothing before an administrator accepts it.")}</p>
          <Command line={`flotilla accept ${member.name}`} />
        </section>
      )}
      <Room member={member} />
      <nav class="tabs" aria-label={t("Parts of the member")}>
        {TABS.map((each) => (
          <a
            key={each}
            href={href(["member", name, ...(each === "workloads" ? [] : [each])])}
            aria-current={tab === each ? "page" : undefined}
          >
            {titles[each]}
          </a>
        ))}
      </nav>
      {tab === "workloads" && <Workloads name={name} />}
      {tab === "nodes" && <Nodes member={member} />}
      {tab === "pods" && (
        <Pods name={name} filter={route.query.get("q") ?? ""} setFilter={(q) => setQuery(route, { q })} />
      )}
      {tab === "what-if" && <WhatIf name={name} />}
    </div>
  );
}

interface Tainted {
  metadata: { resourceVersion: string };
  spec: { taints?: { key: string; effect: string; value?: string; timeAdded?: string }[] };
}

function Actions({ member }: { member: MemberRow }) {
  const { name } = member;
  const right: Right = { verb: "patch", group: "cluster.karmada.io", resource: "clusters", name };
  const managedRight: Right = {
    verb: "patch",
    group: "cluster.open-cluster-management.io",
    resource: "managedclusters",
    name,
  };
  const isKarmada = member.apis.includes("karmada");
  const path = isKarmada ? `${CLUSTERS}/${name}` : `${MANAGED}/${name}`;
  const cordon = async (): Promise<void> => {
    const { metadata, spec } = await hub<Tainted>(`${CLUSTERS}/${name}`);
    const others = (spec.taints ?? []).filter(({ key }) => key !== CORDON_TAINT);
    const taints = member.cordoned ? others : [...others, { key: CORDON_TAINT, effect: "NoSchedule" }];
    await hub(`${CLUSTERS}/${name}?fieldManager=flotilla-ui`, {
      method: "PATCH",
      type: "application/merge-patch+json",
      // With the version that was read: taints of others are not lost.
      body: { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints } },
    });
  };
  const isSimulated = useIsSimulated(member);
  return (
    <div class="controls object-actions">
      {isKarmada && (
        <Action
          needs={right}
          line={`flotilla ${member.cordoned ? "uncordon" : "cordon"} ${name}`}
          done={member.cordoned ? t("It gets new workloads again") : t("It gets no new workloads")}
          run={cordon}
        >
          {member.cordoned ? t("Uncordon") : t("Cordon")}
        </Action>
      )}
      {isSimulated && (
        <Action
          kind={member.cut ? "usual" : "danger"}
          needs={isKarmada ? right : managedRight}
          line={`kubectl annotate ${isKarmada ? "cluster" : "managedcluster"} ${name} ${FAULT}${member.cut ? "-" : "=unreachable"}`}
          done={member.cut ? t("The network is back") : t("The network is cut; the hub notices after its threshold")}
          run={() =>
            hub(`${path}?fieldManager=flotilla-ui`, {
              method: "PATCH",
              type: "application/merge-patch+json",
              body: { metadata: { annotations: { [FAULT]: member.cut ? null : "unreachable" } } },
            })
          }
        >
          {member.cut ? t("Connect again") : t("Cut off")}
        </Action>
      )}
      {member.state === "waiting" && (
        <Action
          kind="primary"
          needs={managedRight}
          line={`flotilla accept ${name}`}
          done={t("Accepted")}
          run={() =>
            hub(`${MANAGED}/${name}?fieldManager=flotilla-ui`, {
              method: "PATCH",
              type: "application/merge-patch+json",
              body: { spec: { hubAcceptsClient: true } },
            })
          }
        >
          {t("Accept")}
        </Action>
      )}
    </div>
  );
}

/** Simulated members run this version of Kubernetes; a real one has no such suffix. */
const useIsSimulated = ({ version, cut }: MemberRow): boolean => cut || version.includes("+flotilla");

function Room({ member: { cpu, memory, taints } }: { member: MemberRow }) {
  if (cpu.all === 0 && taints.length === 0) return null;
  const percent = (all: number, free: number): number => (all === 0 ? 0 : Math.round(((all - free) / all) * 100));
  return (
    <div class="controls room">
      {cpu.all > 0 && (
        <>
          <span class="used">
            {t("CPU requested")}
            <Bar desired={100} ready={percent(cpu.all, cpu.free)} tone="good" label={t("CPU requested")} />
            <span class="muted">
              {t("{free} of {all} cores free", { free: Math.floor(cpu.free), all: Math.round(cpu.all) })}
            </span>
          </span>
          <span class="used">
            {t("Memory requested")}
            <Bar desired={100} ready={percent(memory.all, memory.free)} tone="good" label={t("Memory requested")} />
            <span class="muted">
              {t("{free} of {all} free", { free: formatBytes(memory.free), all: formatBytes(memory.all) })}
            </span>
          </span>
        </>
      )}
      {taints.map((taint) => (
        <span key={taint} class="tag mono">
          {taint}
        </span>
      ))}
    </div>
  );
}

interface OnMember {
  id: string;
  title: string;
  to: string;
  kind: string;
  share: string;
  health: Parameters<typeof HealthWord>[0]["health"];
  desired: number;
  ready: number;
}

function Workloads({ name }: { name: string }) {
  const { workloads } = useFleet();
  const rows = workloads.flatMap((row): OnMember[] => {
    const cell = row.cells.find(({ member }) => member === name);
    return cell
      ? [
          {
            id: row.id,
            title: `${row.namespace === "" ? "" : `${row.namespace}/`}${row.name}`,
            to: objectPath(row),
            kind: row.kind,
            share: formatShare(cell.ready, cell.desired),
            health: cell.health,
            desired: cell.desired,
            ready: cell.ready,
          },
        ]
      : [];
  });
  if (rows.length === 0)
    return (
      <Empty title={t("Nothing is placed here")} commands={["kubectl apply -f examples/shop/shop.yaml"]}>
        {t("A policy that selects this member places workloads here.")}
      </Empty>
    );
  const columns: Column<OnMember>[] = [
    { key: "name", title: t("Workload"), width: "minmax(160px, 2fr)", cell: ({ title }) => <b>{title}</b> },
    {
      key: "health",
      title: t("Health"),
      width: "minmax(120px, 1fr)",
      cell: ({ health }) => <HealthWord health={health} />,
    },
    {
      key: "ready",
      title: t("Ready"),
      width: "130px",
      cell: ({ desired, ready, share, health }) =>
        desired < 0 ? (
          <span class="muted">–</span>
        ) : (
          <span class="used">
            <Bar desired={desired} ready={ready} tone={toneOf[health]} label={t("Ready")} />
            {share}
          </span>
        ),
    },
    { key: "kind", title: t("Kind"), width: "minmax(100px, 1fr)", minor: true, cell: ({ kind }) => kind },
  ];
  return <Table label={t("Workloads")} rows={rows} columns={columns} keyOf={({ id }) => id} hrefOf={({ to }) => to} />;
}

interface Listed<T> {
  items: T[];
}
interface NodeObject {
  metadata: {
    name: string;
    annotations?: Record<string, string>;
    labels?: Record<string, string>;
    creationTimestamp: string;
  };
  spec: { unschedulable?: boolean; taints?: { key: string; effect: string }[] };
  status: { conditions?: { type: string; status: string; reason?: string }[]; allocatable?: Record<string, string> };
}

const onMember = <T,>(name: string, path: string, options?: Parameters<typeof hub>[1]): Promise<T> =>
  hub<T>(`${CLUSTERS}/${name}/proxy${path}`, options);

function Nodes({ member }: { member: MemberRow }) {
  const { name } = member;
  const [count, setCount] = useState(0);
  const { value, error, reload } = useLoaded(`${name} ${member.nodes} ${count}`, (signal) =>
    onMember<Listed<NodeObject>>(name, "/api/v1/nodes?limit=500", { signal }),
  );
  const isSimulated = useIsSimulated(member);
  if (error !== "") return <Failed reason={error} retry={reload} />;
  if (!value) return <Loading />;
  const right: Right = {
    verb: "create",
    group: "cluster.karmada.io",
    resource: "clusters",
    subresource: "proxy",
    name,
  };
  return (
    <div class="panel scroll-x" tabIndex={0} role="group" aria-label={t("Nodes")}>
      <table>
        <thead>
          <tr>
            <th>{t("Node")}</th>
            <th>{t("State")}</th>
            <th>{t("Zone")}</th>
            <th>CPU</th>
            <th>{t("Memory")}</th>
            <th>{t("Taints")}</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {value.items.map(({ metadata, spec, status }) => {
            const ready = status.conditions?.find(({ type }) => type === "Ready")?.status;
            const isLost = metadata.annotations?.[FAULT] === "lost";
            return (
              <tr key={metadata.name}>
                <td class="mono">{metadata.name}</td>
                <td class={ready === "True" ? "good" : "bad"}>
                  {ready === "True" ? t("ready") : t("not ready")}
                  {spec.unschedulable === true && ` · ${t("cordoned")}`}
                  {isLost && ` · ${t("lost on purpose")}`}
                </td>
                <td>{metadata.labels?.["topology.kubernetes.io/zone"] ?? "–"}</td>
                <td>{status.allocatable?.["cpu"]}</td>
                <td>{status.allocatable?.["memory"]}</td>
                <td class="mono">{(spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).join(" ")}</td>
                <td>
                  {isSimulated && (
                    <Action
                      kind={isLost ? "usual" : "danger"}
                      needs={right}
                      line={`kubectl --kubeconfig ${name}.kubeconfig annotate node ${metadata.name} ${FAULT}${isLost ? "-" : "=lost"}`}
                      done={
                        isLost ? t("The node is back") : t("The node stopped responding; it becomes Unknown after 50 s")
                      }
                      run={() =>
                        onMember(name, `/api/v1/nodes/${metadata.name}?fieldManager=flotilla-ui`, {
                          method: "PATCH",
                          type: "application/merge-patch+json",
                          body: { metadata: { annotations: { [FAULT]: isLost ? null : "lost" } } },
                        }).then(() => setCount((old) => old + 1))
                      }
                    >
                      {isLost ? t("Bring back") : t("Lose this node")}
                    </Action>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

interface PodObject {
  metadata: { name: string; namespace: string; creationTimestamp: string; deletionTimestamp?: string };
  spec: { nodeName?: string; containers: { image?: string }[] };
  status: { phase?: string; containerStatuses?: { ready: boolean; state?: { waiting?: { reason?: string } } }[] };
}

function Pods({ name, filter, setFilter }: { name: string; filter: string; setFilter(text: string): void }) {
  const nowMs = useNow();
  const { value, error, reload } = useLoaded(`${name} pods`, (signal) =>
    onMember<Listed<PodObject>>(name, "/api/v1/pods?limit=2000", { signal }),
  );
  if (error !== "") return <Failed reason={error} retry={reload} />;
  if (!value) return <Loading />;
  const text = filter.toLowerCase();
  const rows = value.items.filter(
    ({ metadata, spec }) =>
      text === "" ||
      `${metadata.namespace}/${metadata.name} ${spec.containers.map(({ image }) => image).join(" ")}`
        .toLowerCase()
        .includes(text),
  );
  const stateOf = ({ metadata, status }: PodObject): string =>
    metadata.deletionTimestamp !== undefined
      ? "Terminating"
      : (status.containerStatuses?.find(({ state }) => state?.waiting?.reason !== undefined)?.state?.waiting?.reason ??
        status.phase ??
        "");
  const columns: Column<PodObject>[] = [
    {
      key: "name",
      title: t("Pod"),
      width: "minmax(160px, 2fr)",
      cell: ({ metadata }) => (
        <>
          <span class="muted">{metadata.namespace}/</span>
          {metadata.name}
        </>
      ),
    },
    {
      key: "state",
      title: t("State"),
      width: "minmax(100px, 1fr)",
      cell: (pod) => (
        <span class={(pod.status.containerStatuses ?? []).some(({ ready }) => !ready) ? "busy" : "good"}>
          {stateOf(pod)}
        </span>
      ),
    },
    {
      key: "image",
      title: t("Image"),
      width: "minmax(140px, 2fr)",
      minor: true,
      cell: ({ spec }) => <span class="mono">{spec.containers[0]?.image}</span>,
    },
    { key: "node", title: t("Node"), width: "100px", minor: true, cell: ({ spec }) => spec.nodeName ?? "–" },
    {
      key: "age",
      title: t("Age"),
      width: "60px",
      align: "end",
      cell: ({ metadata }) => formatAgo(metadata.creationTimestamp, nowMs),
    },
  ];
  return (
    <>
      <div class="controls">
        <input
          type="search"
          placeholder={t("Filter pods by name or image")}
          aria-label={t("Filter pods by name or image")}
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <span class="muted">{t("{count} pods", { count: formatNumber(rows.length) })}</span>
        <button type="button" onClick={reload}>
          {t("Read again")}
        </button>
        <Command line={`flotilla get pods -A --clusters ${name}`} />
      </div>
      <Table
        label={t("Pods")}
        rows={rows}
        columns={columns}
        keyOf={({ metadata }) => `${metadata.namespace}/${metadata.name}`}
        hrefOf={({ metadata }) => href(["w", "v1", "Pod", metadata.namespace, metadata.name, "logs"], { member: name })}
      />
    </>
  );
}

/** Nothing is asked before the reader wants it: a plan reads the whole fleet. */
function WhatIf({ name }: { name: string }) {
  const { value, error, reload } = useLoaded(`without ${name}`, (signal) => askPlan({ without: [name] }, signal));
  return (
    <section class="panel what-if">
      <div class="controls">
        <h2>{t("If {name} left the fleet", { name })}</h2>
        <Command line={`flotilla plan --without-cluster ${name}`} />
        <button type="button" class="end" onClick={reload}>
          {t("Plan again")}
        </button>
      </div>
      {error !== "" ? (
        <p class="bad">{error}</p>
      ) : value ? (
        <Moves plan={value} name={name} />
      ) : (
        <p class="muted">{t("planning…")}</p>
      )}
    </section>
  );
}

function Moves({ plan, name }: { plan: Parameters<typeof PlanView>[0]["plan"]; name: string }) {
  const gone = plan.changes.filter(({ cluster, action }) => cluster === name && action === "delete").length;
  const taking = new Set(plan.changes.filter(({ cluster }) => cluster !== name).map(({ cluster }) => cluster));
  return (
    <>
      <p>
        <b>{t("{count} copies leave", { count: gone })}</b>
        {taking.size > 0 && `, ${t("{names} take them over", { names: [...taking].join(", ") })}`}
        {plan.problems.length > 0 ? (
          <span class="bad">, {t("{count} without a place", { count: plan.problems.length })}</span>
        ) : (
          `, ${t("nothing is left without a place")}`
        )}
      </p>
      <PlanView plan={plan} />
    </>
  );
}
