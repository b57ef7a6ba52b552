/** The graph: a receipt for what was charged. */
export const order = [
  { nodeId: "charge", tool: "charge-card", input: { card: "4242", cents: 1_500 } },
  {
    nodeId: "receipt",
    tool: "file-receipt",
    input: {
      charge_id: { $output: "charge", pointer: "/charge_id" },
      cents: { $output: "charge", pointer: "/cents" },
    },
  },
];
