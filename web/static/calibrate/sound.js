/** Plays a short sound when a view is taken, for whoever holds the board and cannot see the page. */

const NOTES_HZ = [660, 990];
const NOTE_S = 0.12;
const LOUDNESS = 0.25;

/** @type {(button: HTMLElement) => {taken: () => void, toggle: () => void}} */
export function createSound(button) {
  /** @type {AudioContext | null} */
  let audio = null;
  const play = () => {
    if (audio === null) return;
    const sounding = audio;
    NOTES_HZ.forEach((frequency, number) => {
      const from = sounding.currentTime + number * NOTE_S;
      const [note, volume] = [sounding.createOscillator(), sounding.createGain()];
      note.frequency.value = frequency;
      volume.gain.setValueAtTime(LOUDNESS, from);
      volume.gain.exponentialRampToValueAtTime(0.001, from + NOTE_S);
      note.connect(volume).connect(sounding.destination);
      note.start(from);
      note.stop(from + NOTE_S);
    });
  };
  const toggle = () => {
    if (audio === null) audio = new AudioContext();
    else {
      void audio.close();
      audio = null;
    }
    button.setAttribute("aria-pressed", String(audio !== null));
    play();
  };
  button.addEventListener("click", toggle);
  return { taken: play, toggle };
}
