/** Everything that is propagated, as a list. */
import { formatShare } from "../../src/format.ts";
import type { WorkloadRow } from "../../src/wire.ts";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { formatNumber, t } from "../i18n.ts";
import { Bar } from "../parts/bar.tsx";
import { FIRST_COMMANDS, useFiltered, WorkloadFilters } from "../parts/filters.tsx";
import { HealthWord, toneOf } from "../parts/glyph.tsx";
import { Empty, Failed, Loading } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import type { Column } from "../parts/table.tsx";
import { objectPath, setQuery } from "../router.ts";

export function WorkloadsView({ route }: ViewProps) {
  const fleet = useFleet();
  const rows = useFiltered(route);
  if (fleet.error !== "" && !fleet.loaded) return <Failed reason={fleet.error} />;
  if (!fleet.loaded) return <Loading />;
  return (
    <div class="view fill-view">
      <h1 class="visually-hidden">{t("Workloads")}</h1>
      <WorkloadFilters route={route} shown={rows.length} />
      {fleet.workloads.length === 0 ? (
        <Empty title={t("Nothing is propagated yet")} commands={FIRST_COMMANDS}>
          {t("Apply a workload and a PropagationPolicy that selects it. The policy decides on which members it runs.")}
        </Empty>
      ) : (
        <Table
          label={t("Workloads")}
          rows={rows}
          columns={columns()}
          keyOf={({ id }) => id}
          hrefOf={(row) => objectPath(row)}
          sort={route.query.get("sort") ?? ""}
          onSort={(key) =>
            setQuery(route, {
              sort: key === "health" ? "worst" : key === "ready" ? "size" : key === "kind" ? "kind" : "",
            })
          }
        />
      )}
    </div>
  );
}

const columns = (): Column<WorkloadRow>[] => [
  {
    key: "name",
    title: t("Workload"),
    width: "minmax(160px, 2fr)",
    cell: ({ namespace, name }) => (
      <>
        <span class="muted">{namespace === "" ? "" : `${namespace}/`}</span>
        <b>{name}</b>
      </>
    ),
  },
  {
    key: "health",
    title: t("Health"),
    width: "minmax(110px, 0.8fr)",
    cell: ({ health }) => <HealthWord health={health} />,
  },
  {
    key: "ready",
    title: t("Ready"),
    width: "120px",
    cell: (row) =>
      row.desired < 0 ? (
        <span class="muted">–</span>
      ) : (
        <span class="used">
          <Bar desired={row.desired} ready={row.ready} tone={toneOf[row.health]} label={t("Ready")} />
          <span class="number">{formatShare(row.ready, row.desired)}</span>
        </span>
      ),
  },
  { key: "kind", title: t("Kind"), width: "minmax(90px, 0.9fr)", minor: true, cell: ({ kind }) => kind },
  {
    key: "members",
    title: t("Members"),
    width: "minmax(120px, 1.2fr)",
    minor: true,
    cell: ({ cells }) =>
      cells.length <= 3 ? (
        cells.map(({ member, desired }) => (desired < 0 ? member : `${member} ${desired}`)).join(", ")
      ) : (
        <>{t("{count} members", { count: formatNumber(cells.length) })}</>
      ),
  },
  {
    key: "note",
    title: t("What is wrong"),
    width: "minmax(160px, 2.4fr)",
    minor: true,
    cell: ({ note }) => (
      <span class="bad" title={note}>
        {note}
      </span>
    ),
  },
];
