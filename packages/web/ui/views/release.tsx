/** One partition for the fleet: a slider sets a draft, the plan shows what it would do, and only Apply writes. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { apiPath, manifestWith, patchAt, releaseOf } from "../../src/release.ts";
import type { Release } from "../../src/release.ts";
import { quoteWord } from "../../src/format.ts";
import type { CopyRow } from "../../src/wire.ts";
import { t } from "../i18n.ts";
import { pluralOf } from "../kinds.ts";
import { Action } from "../parts/action.tsx";
import { Bar } from "../parts/bar.tsx";
import { Command } from "../parts/command.tsx";
import { toneOf } from "../parts/glyph.tsx";
import { useLoaded } from "../parts/hooks.ts";
import type { Right } from "../parts/hooks.ts";
import { PlanView } from "../parts/plan-view.tsx";
import { Empty } from "../parts/states.tsx";
import { askPlan } from "../plan.ts";
import type { Plan } from "../plan.ts";
import { hub } from "../session.ts";
import type { TabProps } from "./tab.ts";

const PREVIEW_MS = 150;

export function ReleaseTab({ view }: TabProps) {
  const { ref, template, copies } = view;
  const desired = copies.reduce((sum, copy) => sum + Math.max(0, copy.desired), 0);
  const release = useMemo(() => releaseOf(template, desired), [template, desired]);
  const [draft, setDraft] = useState<number | undefined>(undefined);
  const [image, setImage] = useState<string | undefined>(undefined);
  const [preview, setPreview] = useState<{ key: string; plan?: Plan; error?: string }>({ key: "" });
  const { value: plural = "" } = useLoaded(`${ref.apiVersion}/${ref.kind}`, () => pluralOf(ref.apiVersion, ref.kind));
  const key = JSON.stringify([draft, image, release.partition, release.images]);
  const manifest = useMemo(() => {
    if (draft === undefined && image === undefined) return undefined;
    let next: unknown = template;
    if (draft !== undefined && release.partitionPath) next = manifestWith(next, release.partitionPath, draft);
    if (image !== undefined) next = withImage(next, image);
    return next;
  }, [key]);
  useEffect(() => {
    if (!manifest) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      askPlan({ text: JSON.stringify(manifest), namespace: ref.namespace }, stop.signal).then(
        (plan) => setPreview({ key, plan }),
        (error: Error) => !stop.signal.aborted && setPreview({ key, error: error.message }),
      );
    }, PREVIEW_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);

  if (!release.partitionPath && !release.pausedPath && release.images.length === 0)
    return (
      <Empty title={t("This kind has no release to move")}>{t("It has neither a pod template nor a partition.")}</Empty>
    );
  const updated = copies.reduce((sum, copy) => sum + Math.max(0, copy.updated), 0);
  const ready = copies.reduce((sum, copy) => sum + Math.max(0, copy.ready), 0);
  const all = release.replicas;
  const group = ref.apiVersion.includes("/") ? (ref.apiVersion.split("/")[0] ?? "") : "";
  const right: Right = { verb: "patch", group, resource: plural, namespace: ref.namespace, name: ref.name };
  const target = `${plural}${group === "" ? "" : `.${group}`} ${ref.name}${ref.namespace === "" ? "" : ` -n ${ref.namespace}`}`;
  const version = resourceVersionOf(template);
  const write = (patch: Record<string, unknown>): Promise<unknown> =>
    // With the version that was looked at: a change by another writer in between is not overwritten.
    hub(apiPath(ref.apiVersion, plural, ref.namespace, ref.name) + "?fieldManager=flotilla-ui", {
      method: "PATCH",
      type: "application/merge-patch+json",
      body: { ...patch, metadata: { resourceVersion: version } },
    }).then(() => {
      setDraft(undefined);
      setImage(undefined);
    });
  const patchLine = (patch: unknown): string =>
    `kubectl patch ${target} --type merge -p ${quoteWord(JSON.stringify(patch))}`;
  const draftPatch = release.partitionPath && draft !== undefined ? patchAt(release.partitionPath, draft) : undefined;
  const pausePatch = release.pausedPath && patchAt(release.pausedPath, !release.paused);
  const imageLine = `kubectl set image ${target.replace(" ", "/").replace(" -n", " -n")} ${release.images[0]?.container ?? ""}=${quoteWord(image ?? "")}`;
  return (
    <div class="release" onKeyDown={(event) => event.key === "Escape" && (setDraft(undefined), setImage(undefined))}>
      <section class="panel">
        <Figures release={release} updated={updated} ready={ready} draft={draft} />
        <Bar wide desired={all} ready={ready} updated={updated} tone="good" label={t("Fleet")} />
        {release.partitionPath && all > 0 && (
          <PartitionSlider all={all} behind={draft ?? release.partition} onChange={setDraft} />
        )}
        <div class="controls">
          {draftPatch && (
            <>
              <Action
                kind="primary"
                needs={right}
                line={patchLine(draftPatch)}
                done={t("The partition is {count} now", { count: draft ?? 0 })}
                run={() => write(draftPatch)}
              >
                {t("Apply: {count} stay behind", { count: draft ?? 0 })}
              </Action>
              <button type="button" onClick={() => setDraft(undefined)}>
                {t("Cancel")} <kbd>Esc</kbd>
              </button>
            </>
          )}
          {pausePatch && (
            <Action
              needs={right}
              line={patchLine(pausePatch)}
              done={release.paused ? t("Resumed") : t("Paused")}
              run={() => write(pausePatch)}
            >
              {release.paused ? t("Resume") : t("Pause")}
            </Action>
          )}
          {release.partitionPath && draft === undefined && release.partition > 0 && (
            <button
              type="button"
              onClick={() => setDraft(Math.max(0, release.partition - Math.max(1, Math.ceil(all / 10))))}
            >
              {t("Next step")}
            </button>
          )}
          {release.partitionPath && draft === undefined && release.partition < all && (
            <button type="button" class="danger" onClick={() => setDraft(all)}>
              {t("Roll back…")}
            </button>
          )}
        </div>
        {draftPatch && <Command line={patchLine(draftPatch)} />}
      </section>
      {release.images.length > 0 && (
        <section class="panel">
          <h2>{t("Version")}</h2>
          <div class="controls">
            <label>
              {release.images[0]?.container}
              <input
                class="mono image"
                value={image ?? release.images[0]?.image ?? ""}
                aria-label={t("Image")}
                onInput={({ currentTarget }) =>
                  setImage(currentTarget.value === release.images[0]?.image ? undefined : currentTarget.value)
                }
              />
            </label>
            {image !== undefined && (
              <Action
                kind="primary"
                needs={right}
                line={imageLine}
                done={t("The image is {image} now", { image })}
                run={() =>
                  hub(apiPath(ref.apiVersion, plural, ref.namespace, ref.name) + "?fieldManager=flotilla-ui", {
                    method: "PATCH",
                    type: "application/json-patch+json",
                    body: [
                      { op: "test", path: "/metadata/resourceVersion", value: version },
                      { op: "replace", path: "/spec/template/spec/containers/0/image", value: image },
                    ],
                  }).then(() => setImage(undefined))
                }
              >
                {t("Release this image")}
              </Action>
            )}
          </div>
          {release.partitionPath && (
            <p class="muted">
              {t("With a partition, set it first: the members update only the pods that do not stay behind.")}
            </p>
          )}
        </section>
      )}
      {manifest !== undefined && <Preview of={preview.key === key ? preview : undefined} />}
      <section class="panel">
        <h2>{t("Members")}</h2>
        <div class="lanes">
          {copies.map((copy) => (
            <Lane key={copy.member} copy={copy} />
          ))}
        </div>
      </section>
    </div>
  );
}

interface FigureProps {
  release: Release;
  updated: number;
  ready: number;
  draft: number | undefined;
}

/** How far the release is, over the fleet. */
function Figures({ release, updated, ready, draft }: FigureProps) {
  const all = release.replicas;
  return (
    <div class="release-head">
      <dl class="figures">
        <div>
          <dt>{t("of the newest version")}</dt>
          <dd>
            {updated}
            <small>/{all}</small>
          </dd>
        </div>
        <div>
          <dt>{t("ready")}</dt>
          <dd>
            {ready}
            <small>/{all}</small>
          </dd>
        </div>
        {release.partitionPath && (
          <div>
            <dt>{t("stay behind")}</dt>
            <dd>
              {release.partition}
              {draft !== undefined && draft !== release.partition && <small> → {draft}</small>}
            </dd>
          </div>
        )}
        <div>
          <dt>{t("state")}</dt>
          <dd class="word">
            {release.paused
              ? t("paused")
              : updated >= all - release.partition && updated >= all
                ? t("released")
                : updated >= all - release.partition
                  ? t("held by the partition")
                  : t("moving")}
          </dd>
        </div>
      </dl>
    </div>
  );
}

/** The number of pods that keep their version. */
function PartitionSlider({ all, behind, onChange }: { all: number; behind: number; onChange(behind: number): void }) {
  return (
    <div class="slider">
      <label for="partition">{t("Pods that stay behind, over the fleet")}</label>
      <input
        id="partition"
        type="range"
        min={0}
        max={all}
        step={1}
        // From left to right more pods get the newest version.
        dir="rtl"
        value={behind}
        aria-valuetext={t("{count} of {all} stay behind", { count: behind, all })}
        onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
      />
      <div class="slider-ends muted">
        <span>{t("all stay behind")}</span>
        <output for="partition">{t("{count} of {all} get the newest version", { count: all - behind, all })}</output>
        <span>{t("all are updated")}</span>
      </div>
    </div>
  );
}

/** What the draft would do; undefined while it is planned. */
function Preview({ of }: { of: { plan?: Plan; error?: string } | undefined }) {
  return (
    <section class="panel" aria-live="polite">
      <h2>{t("What it would do")}</h2>
      {of === undefined ? (
        <p class="muted">{t("planning…")}</p>
      ) : of.error !== undefined ? (
        <p class="bad">{of.error}</p>
      ) : (
        of.plan && <PlanView plan={of.plan} />
      )}
    </section>
  );
}

function Lane({ copy }: { copy: CopyRow }) {
  const starting = copy.pods.filter(({ updated, ready }) => updated && !ready).length;
  return (
    <div class="lane">
      <b>{copy.member}</b>
      <Bar
        wide
        desired={copy.desired}
        ready={copy.ready}
        updated={copy.updated}
        tone={toneOf[copy.health]}
        label={copy.member}
      />
      <span class="number">
        {copy.updated < 0 ? "–" : copy.updated}/{copy.desired < 0 ? "–" : copy.desired}
      </span>
      <span class="muted">
        {copy.health === "stale"
          ? t("away: counts with what it was asked for")
          : starting > 0
            ? t("{count} starting", { count: starting })
            : copy.partition !== ""
              ? t("partition {partition}", { partition: copy.partition })
              : ""}
      </span>
    </div>
  );
}

function withImage(template: unknown, image: string): unknown {
  const copy = JSON.parse(JSON.stringify(manifestWith(template, [], undefined))) as {
    spec?: { template?: { spec?: { containers?: { image?: string }[] } } };
  };
  const first = copy.spec?.template?.spec?.containers?.[0];
  if (first) first.image = image;
  return copy;
}

const resourceVersionOf = (template: unknown): string =>
  (template as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion ?? "";
