/** One workload from its template to its pods; the tabs are views of the same object. */
import { useEffect, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import type { ObjectRef, ObjectView } from "../../src/wire.ts";
import { workloadId } from "../../src/wire.ts";
import { formatShare } from "../../src/format.ts";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { t } from "../i18n.ts";
import { HealthWord } from "../parts/glyph.tsx";
import { useTopic } from "../parts/hooks.ts";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { objectPath } from "../router.ts";
import { MembersTab } from "./workload-members.tsx";
import { TreeTab } from "./workload-tree.tsx";
import type { TabProps } from "./tab.ts";

const TABS = ["tree", "members", "release", "why", "logs", "yaml", "history"] as const;
type TabName = (typeof TABS)[number];
const titles = (): Readonly<Record<TabName, string>> => ({
  tree: t("Tree"),
  members: t("Members"),
  release: t("Release"),
  why: t("Why"),
  logs: t("Logs"),
  yaml: t("Edit"),
  history: t("History"),
});
/** Heavy ones are loaded when they are opened. */
const LOADED: Readonly<Partial<Record<TabName, () => Promise<ComponentType<TabProps>>>>> = {
  release: async () => (await import("./release.tsx")).ReleaseTab,
  why: async () => (await import("./why.tsx")).WhyTab,
  logs: async () => (await import("./logs.tsx")).LogsTab,
  yaml: async () => (await import("./edit.tsx")).EditTab,
  history: async () => (await import("./history.tsx")).HistoryTab,
};

function refOf([, apiVersion = "", kind = "", namespace = "", name = ""]: readonly string[]): ObjectRef {
  return { apiVersion: apiVersion.replace("~", "/"), kind, namespace: namespace === "-" ? "" : namespace, name };
}

export function WorkloadView({ route }: ViewProps) {
  const ref = refOf(route.path);
  const tab = (TABS as readonly string[]).includes(route.path[5] ?? "") ? (route.path[5] as TabName) : "tree";
  const fleet = useFleet();
  const { value: view, error } = useTopic<ObjectView>({ name: "object", ref });
  // An address may name another version than the one that is propagated.
  const row =
    fleet.workload(workloadId(ref)) ??
    fleet.workloads.find(
      ({ kind, namespace, name }) => kind === ref.kind && namespace === ref.namespace && name === ref.name,
    );
  const names = titles();
  return (
    <div class="view workload">
      <header class="object-head">
        <div>
          <p class="muted">
            {ref.kind} · {ref.apiVersion}
          </p>
          <h1>
            {ref.namespace !== "" && <span class="muted">{ref.namespace}/</span>}
            {ref.name}
          </h1>
        </div>
        {row && (
          <div class="object-state">
            <HealthWord health={row.health} />
            {row.desired >= 0 && <b>{t("{share} ready", { share: formatShare(row.ready, row.desired) })}</b>}
          </div>
        )}
        {row && row.note !== "" && <p class="bad object-note">{row.note}</p>}
      </header>
      <nav class="tabs" aria-label={t("Parts of the workload")}>
        {TABS.map((name) => (
          <a
            key={name}
            href={objectPath(ref, name === "tree" ? "" : name)}
            aria-current={tab === name ? "page" : undefined}
          >
            {names[name]}
          </a>
        ))}
      </nav>
      {view?.notes.map((note) => (
        <p key={note} class="bad object-note">
          {note}
        </p>
      ))}
      {error !== "" ? <Failed reason={error} /> : view ? <Tab name={tab} view={view} route={route} /> : <Loading />}
    </div>
  );
}

function Tab({ name, view, route }: { name: TabName } & TabProps) {
  const [loaded, setLoaded] = useState<{ name: TabName; component: ComponentType<TabProps> } | undefined>(undefined);
  useEffect(() => {
    const load = LOADED[name];
    if (!load) return;
    let isCurrent = true;
    void load().then((component) => isCurrent && setLoaded({ name, component }));
    return () => void (isCurrent = false);
  }, [name]);
  const { ref } = view;
  if (view.template === undefined)
    return (
      <Empty
        title={t("The hub has no such object")}
        commands={[
          `flotilla get ${ref.kind.toLowerCase()} ${ref.name}${ref.namespace === "" ? "" : ` -n ${ref.namespace}`}`,
        ]}
      >
        {t("It may have been deleted, or a ManifestWork delivers it.")}
      </Empty>
    );
  if (name === "tree") return <TreeTab view={view} route={route} />;
  if (name === "members") return <MembersTab view={view} route={route} />;
  if (loaded?.name !== name) return <Loading />;
  const { component: Component } = loaded;
  return <Component view={view} route={route} />;
}
