/** The copies of a workload, and the pods of each. */
import { formatAgo, formatShare } from "../../src/format.ts";
import type { CopyRow, PodRow } from "../../src/wire.ts";
import { t } from "../i18n.ts";
import { Bar } from "../parts/bar.tsx";
import { HealthWord, toneOf } from "../parts/glyph.tsx";
import { useNow } from "../parts/hooks.ts";
import { Empty } from "../parts/states.tsx";
import { href, objectPath } from "../router.ts";
import type { TabProps } from "./tab.ts";

export function MembersTab({ view }: TabProps) {
  const nowMs = useNow();
  if (view.copies.length === 0)
    return (
      <Empty title={t("No member has a copy")}>
        {view.conditions.find(({ status }) => status === "False")?.message}
      </Empty>
    );
  return (
    <>
      {view.copies.slice(0, 100).map((copy) => (
        <section key={copy.member} class="panel copy">
          <header class="controls">
            <h2>
              <a href={href(["member", copy.member])}>{copy.member}</a>
            </h2>
            <HealthWord health={copy.health} />
            {copy.desired >= 0 && (
              <span class="used">
                <Bar
                  desired={copy.desired}
                  ready={copy.ready}
                  updated={copy.updated}
                  tone={toneOf[copy.health]}
                  label={t("Ready")}
                />
                {t("{share} ready", { share: formatShare(copy.ready, copy.desired) })}
              </span>
            )}
            {copy.updated >= 0 && (
              <span class="muted">{t("{count} of the newest version", { count: copy.updated })}</span>
            )}
            {copy.partition !== "" && <span class="muted mono">partition {copy.partition}</span>}
            <span class={`tag end ${copy.live ? "good" : ""}`} title={copy.notLive}>
              {copy.live ? t("live") : t("last report")}
            </span>
          </header>
          {copy.message !== "" && <p class="bad">{copy.message}</p>}
          {copy.drift !== "" && <p class="busy">{copy.drift}</p>}
          {copy.pods.length > 0 && <Pods copy={copy} nowMs={nowMs} view={view} />}
        </section>
      ))}
      {view.copies.length + view.moreCopies > 100 && (
        <p class="muted">
          {t("{count} more members are not listed here", { count: view.copies.length + view.moreCopies - 100 })}
        </p>
      )}
    </>
  );
}

function Pods({ copy, nowMs, view }: { copy: CopyRow; nowMs: number; view: TabProps["view"] }) {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label={t("Pods on {member}", { member: copy.member })}>
      <table>
        <thead>
          <tr>
            <th>{t("Pod")}</th>
            <th>{t("State")}</th>
            <th>{t("Restarts")}</th>
            <th>{t("Image")}</th>
            <th>{t("Node")}</th>
            <th>{t("Age")}</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {copy.pods.map((pod) => (
            <tr key={pod.name}>
              <td class="mono">{pod.name}</td>
              <td class={toneOfPod(pod)}>{pod.state}</td>
              <td>{pod.restarts}</td>
              <td class="mono">{pod.image}</td>
              <td>{pod.node}</td>
              <td>{formatAgo(pod.created, nowMs)}</td>
              <td>
                <a href={objectPath(view.ref, "logs", { member: copy.member, pod: pod.name })}>{t("Logs")}</a>{" "}
                <a
                  href={objectPath(view.ref, "logs", {
                    member: copy.member,
                    pod: pod.name,
                    terminal: pod.containers[0] ?? "",
                  })}
                >
                  {t("Terminal")}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {copy.morePods > 0 && <p class="muted">{t("and {count} more pods", { count: copy.morePods })}</p>}
    </div>
  );
}

const toneOfPod = ({ ready, state }: PodRow): string =>
  ready ? "good" : /BackOff|Error|Failed|OOM|Invalid/.test(state) ? "bad" : "busy";
