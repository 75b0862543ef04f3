// The official AG-UI clients, by the version of the protocol that they speak.
const packages = {
  "1.0": ["@ag-ui/client", "@ag-ui/core/schemas"],
  "0.0.59": ["ag-ui-client-0.0.59", "ag-ui-core-0.0.59"],
};

// agUI is what there is of a version: its client, and the schemas of its events.
export async function agUI(version) {
  if (!packages[version]) throw new Error(`no client of ${version}: ${Object.keys(packages).join(" or ")}`);
  const [client, core] = await Promise.all(packages[version].map((name) => import(name)));
  return { ...client, ...core };
}
