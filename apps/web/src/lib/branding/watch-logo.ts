/**
 * Marks the element around a logo once the picture has loaded. 'wide' is one more than twice as wide as high: such a
 * wordmark hides the name, whose place stays so that nothing moves (of a local file the server knows it before). 'failed'
 * could not be loaded: the built-in mark replaces it. Without a script the name stays beside either.
 */
export function watchLogo(picture: HTMLImageElement): void {
  const mark = picture.parentElement;
  picture.decode().then(
    () => {
      if (mark?.dataset.logo === 'picture' && picture.naturalWidth > 2 * picture.naturalHeight)
        mark.dataset.logo = 'wide';
    },
    () => {
      if (mark) mark.dataset.logo = 'failed';
    },
  );
}
