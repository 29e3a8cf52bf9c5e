/** From the template to the pods, as a tree that folds what is alike. */
import { useMemo, useState } from "preact/hooks";
import { formatShare } from "../../src/format.ts";
import { layoutTree } from "../../src/tree-layout.ts";
import type { TreeNode } from "../../src/tree-layout.ts";
import type { CopyRow, Health, PodRow } from "../../src/wire.ts";
import { t } from "../i18n.ts";
import { Bar } from "../parts/bar.tsx";
import { Glyph, toneOf, wordOf } from "../parts/glyph.tsx";
import { Empty } from "../parts/states.tsx";
import { href, objectPath } from "../router.ts";
import type { TabProps } from "./tab.ts";

export function TreeTab({ view }: TabProps) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<Health>>(new Set());
  const layout = useMemo(
    () =>
      layoutTree(view, unfolded, (health, count) => t("{count} members: {state}", { count, state: wordOf(health) })),
    [view, unfolded],
  );
  const { ref } = view;
  if (view.binding === "")
    return (
      <Empty
        title={t("No policy propagates this object")}
        commands={[
          `flotilla why ${ref.kind.toLowerCase()}/${ref.name}${ref.namespace === "" ? "" : ` -n ${ref.namespace}`}`,
        ]}
      >
        {t("It exists on the hub only. Apply a PropagationPolicy that selects it.")}
      </Empty>
    );
  const byId = new Map(layout.nodes.map((node) => [node.id, node]));
  const problems = view.copies.filter(({ message, drift }) => message !== "" || drift !== "");
  return (
    <>
      <div class="panel tree" tabIndex={0} role="group" aria-label={t("Tree of the workload")}>
        <div class="tree-space" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
          <svg width={layout.width} height={layout.height} aria-hidden="true">
            {layout.edges.map(({ from, to, health }) => {
              const [a, b] = [byId.get(from), byId.get(to)];
              if (!a || !b) return null;
              const [x1, y1, x2, y2] = [a.x + a.width, a.y + a.height / 2, b.x, b.y + b.height / 2];
              const middle = (x1 + x2) / 2;
              return (
                <path
                  key={`${from} ${to}`}
                  class={`edge ${toneOf[health]}`}
                  d={`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`}
                />
              );
            })}
          </svg>
          {layout.nodes.map((node) => (
            <Node
              key={node.id}
              node={node}
              view={view}
              unfold={(health) => setUnfolded(new Set([...unfolded, health]))}
            />
          ))}
        </div>
      </div>
      {problems.length > 0 && (
        <section class="panel">
          <h2>{t("What members report")}</h2>
          <ul class="plain">
            {problems.slice(0, 20).map((copy) => (
              <li key={copy.member}>
                <Glyph tone={toneOf[copy.health]} /> <b>{copy.member}</b> {copy.message}
                {copy.drift !== "" && <span class="tag busy">{t("drift")}</span>} {copy.drift}
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="panel">
        <h2>{t("Conditions")}</h2>
        <ul class="plain">
          {view.conditions.map(({ type, status, reason, message }) => (
            <li key={type}>
              <b>{type}</b> {status}{" "}
              <span class="muted">
                {reason === type ? "" : reason} {message}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function Node({ node, view, unfold }: { node: TreeNode; view: TabProps["view"]; unfold(health: Health): void }) {
  const place = { left: `${node.x}px`, top: `${node.y}px`, width: `${node.width}px`, height: `${node.height}px` };
  const { opens, copy } = node;
  if (node.pods && copy)
    return (
      <a
        class="pods"
        style={place}
        href={objectPath(view.ref, "members")}
        aria-label={t("{count} pods on {member}", { count: node.pods.length + copy.morePods, member: copy.member })}
      >
        {node.pods.slice(0, 36).map((pod) => (
          <PodDot key={pod.name} pod={pod} />
        ))}
        {node.pods.length + copy.morePods > 36 && <span class="muted">+{node.pods.length + copy.morePods - 36}</span>}
      </a>
    );
  const body = (
    <>
      <span class="node-title">
        <Glyph tone={toneOf[node.health]} label={wordOf(node.health)} />
        <b>{node.title}</b>
      </span>
      <span class="node-detail muted">{copy ? <CopyDetail copy={copy} /> : node.detail}</span>
    </>
  );
  const label = `node ${toneOf[node.health]}`;
  if (typeof opens === "object" && "fold" in opens)
    return (
      <button type="button" class={label} style={place} onClick={() => unfold(opens.fold)}>
        {body}
      </button>
    );
  const to =
    typeof opens === "object"
      ? href(["member", opens.member])
      : opens === "policy"
        ? objectPath(view.ref, "why")
        : objectPath(view.ref, "yaml");
  return (
    <a class={label} style={place} href={to}>
      {body}
    </a>
  );
}

function CopyDetail({ copy }: { copy: CopyRow }) {
  if (copy.desired < 0) return <>{copy.applied === false ? t("not applied") : t("applied")}</>;
  return (
    <span class="used">
      <Bar
        desired={copy.desired}
        ready={copy.ready}
        updated={copy.updated}
        tone={toneOf[copy.health]}
        label={copy.member}
      />
      {formatShare(copy.ready, copy.desired)}
      {!copy.live && (
        <em class="tag" title={copy.notLive}>
          {t("last report")}
        </em>
      )}
    </span>
  );
}

function PodDot({ pod }: { pod: PodRow }) {
  const tone = pod.ready ? "good" : /BackOff|Error|Failed|OOM|Invalid/.test(pod.state) ? "bad" : "busy";
  return (
    <span class={`pod ${tone} ${pod.updated ? "updated" : ""}`} title={`${pod.name} ${pod.state} ${pod.image}`}>
      {tone === "bad" ? "✖" : ""}
    </span>
  );
}
