/** @throws Error where nothing is thrown. */
export const thrownBy = async (act: () => Promise<unknown>): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
};
