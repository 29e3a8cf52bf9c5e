/** The filters that the list and the matrix of workloads share; their state is in the address. */
import { useMemo } from "preact/hooks";
import type { WorkloadRow } from "../../src/wire.ts";
import { HEALTH } from "../../src/wire.ts";
import { useFleet } from "../fleet-store.ts";
import { t } from "../i18n.ts";
import { setQuery } from "../router.ts";
import type { Route } from "../router.ts";

/** The workloads that the address asks for, in its order. */
export function useFiltered(route: Route): readonly WorkloadRow[] {
  const fleet = useFleet();
  const { query } = route;
  const [namespace, kind, only, text, sort] = ["ns", "kind", "only", "q", "sort"].map((name) => query.get(name) ?? "");
  return useMemo(() => {
    const words = (text ?? "").toLowerCase();
    const rows = fleet.workloads.filter(
      (row) =>
        (namespace === "" || row.namespace === namespace) &&
        (kind === "" || row.kind === kind) &&
        (only !== "unhealthy" || row.health === "failed" || row.health === "stale") &&
        (only !== "moving" || row.health === "progressing") &&
        (words === "" || `${row.namespace}/${row.name} ${row.kind} ${row.note}`.toLowerCase().includes(words)),
    );
    if (sort === "worst" || sort === "health")
      return rows.sort((a, b) => HEALTH.indexOf(b.health) - HEALTH.indexOf(a.health));
    if (sort === "size") return rows.sort((a, b) => b.desired - a.desired);
    if (sort === "kind") return rows.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0));
    return rows;
  }, [fleet.version, namespace, kind, only, text, sort]);
}

export function WorkloadFilters({ route, shown }: { route: Route; shown: number }) {
  const fleet = useFleet();
  const [namespaces, kinds] = useMemo(
    () => [
      [...new Set(fleet.workloads.map(({ namespace }) => namespace))].sort(),
      [...new Set(fleet.workloads.map(({ kind }) => kind))].sort(),
    ],
    [fleet.version],
  );
  const value = (name: string): string => route.query.get(name) ?? "";
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    setQuery(route, { [name]: event.currentTarget.value });
  return (
    <div class="controls">
      <input
        type="search"
        placeholder={t("Filter workloads")}
        aria-label={t("Filter workloads")}
        value={value("q")}
        onInput={set("q")}
      />
      <label>
        {t("namespace")}
        <select value={value("ns")} onChange={set("ns")}>
          <option value="">{t("all")}</option>
          {namespaces.map((name) => (
            <option key={name} value={name}>
              {name === "" ? t("none") : name}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t("kind")}
        <select value={value("kind")} onChange={set("kind")}>
          <option value="">{t("all")}</option>
          {kinds.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label>
        {t("only")}
        <select value={value("only")} onChange={set("only")}>
          <option value="">{t("everything")}</option>
          <option value="unhealthy">{t("not healthy")}</option>
          <option value="moving">{t("in progress")}</option>
        </select>
      </label>
      <label>
        {t("order")}
        <select value={value("sort")} onChange={set("sort")}>
          <option value="">{t("name")}</option>
          <option value="worst">{t("worst first")}</option>
          <option value="size">{t("largest first")}</option>
        </select>
      </label>
      <span class="muted end">
        {shown === fleet.workloads.length
          ? t("{count} workloads", { count: shown })
          : t("{count} of {all} workloads", { count: shown, all: fleet.workloads.length })}
      </span>
    </div>
  );
}

/** Nothing is propagated yet. */
export const FIRST_COMMANDS = ["kubectl apply -f examples/shop/shop.yaml", "flotilla status"];
