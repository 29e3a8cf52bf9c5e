/** Manifests in, plan out, then apply. Files can be dropped anywhere on the view. */
import { useState } from "preact/hooks";
import type { ViewProps } from "../view.ts";
import { useFleet } from "../fleet-store.ts";
import { t } from "../i18n.ts";
import { ApplyPanel } from "../parts/apply-panel.tsx";
import { setQuery } from "../router.ts";

const KEPT = "flotilla.manifests";
const MAX_CHARACTERS = 3_000_000;

export function ApplyView({ route }: ViewProps) {
  const { workloads } = useFleet();
  const [text, setText] = useState(() => sessionStorage.getItem(KEPT) ?? "");
  const namespace = route.query.get("ns") ?? "default";
  const change = (next: string): void => {
    setText(next);
    // A reload does not lose it; a closed tab does.
    if (next.length < MAX_CHARACTERS) sessionStorage.setItem(KEPT, next);
  };
  const add = async (files: Iterable<File>): Promise<void> => {
    const texts = await Promise.all(Array.from(files, (file) => file.text()));
    change(
      [text, ...texts]
        .map((each) => each.trim())
        .filter((each) => each !== "")
        .join("\n---\n"),
    );
  };
  return (
    <div
      class="view fill-view"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void add(event.dataTransfer?.files ?? []);
      }}
    >
      <ApplyPanel text={text} onText={change} namespace={namespace}>
        <h1>{t("Plan and apply")}</h1>
        <label>
          {t("namespace")}
          <input
            value={namespace}
            list="namespaces"
            size={12}
            onChange={({ currentTarget }) => setQuery(route, { ns: currentTarget.value })}
          />
        </label>
        <datalist id="namespaces">
          {[...new Set(workloads.map((row) => row.namespace))].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <label class="file">
          {t("Open files…")}
          <input
            type="file"
            multiple
            accept=".yaml,.yml,.json"
            class="visually-hidden"
            onChange={({ currentTarget }) => void add(currentTarget.files ?? [])}
          />
        </label>
      </ApplyPanel>
    </div>
  );
}
